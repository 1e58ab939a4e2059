#include "sim/study/validate/output.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/study/validate/tables.h"
#include "sim/view/table/page.h"

namespace systole::validate {
namespace {

using nlohmann::ordered_json;
using tables::Table;

/// To a millionth: the same text on every computer.
double rounded(double value) {
    return tables::rounded(value, 6);
}

ordered_json parameters_json(const FitGrid& grid, const Parameters& parameters) {
    ordered_json json = ordered_json::object();
    for (std::size_t i = 0; i < parameters.size(); ++i) json[grid.axes[i].key] = parameters[i];
    return json;
}

ordered_json to_json(const Target& target, const Fit& fit) {
    const std::vector<Element>& workloads = target.lists.at("workloads");
    ordered_json json;
    json["fitted_to"] = ordered_json::array();
    for (const std::size_t workload : fit.fitted) json["fitted_to"].push_back(workloads[workload].name);
    json["parameters"] = parameters_json(target.fit, fit.parameters);
    json["fitted_error"] = rounded(fit.fitted_error);
    if (fit.fitted.size() < workloads.size()) json["others_error"] = rounded(fit.others_error);
    return json;
}

bool has_rows_of(const Target& target, const std::string& table, const char* study) {
    return std::ranges::find(target.tables, table, &TableFormulas::id)->rows_of == study;
}

/// A number, or those of a row by element.
ordered_json to_json(const std::string& formula, const std::string& place, Formulas& formulas) {
    const auto shown = [](Number number) { return number ? ordered_json(rounded(*number)) : ordered_json(); };
    if (formulas.list_of(formula, place) == nullptr) return shown(formulas.value(formula, place));
    ordered_json json;
    for (const auto& [element, number] : formulas.row(formula, place)) json[element] = shown(number);
    return json;
}

}  // namespace

std::string to_text(Results& results, const terminal::Look& look) {
    std::string text;
    for (const Table& table : all_tables(results)) {
        if (has_rows_of(results.setup.target, table.id, "figures")) continue;  // hundreds of lines
        if (!text.empty()) text += "\n\n";
        text += tables::to_text(table, look);
    }
    return text;
}

ordered_json to_json(Results& results) {
    const Target& target = results.setup.target;
    ordered_json json;
    json["schema"] = "sim.validation_report/2";
    json["target"] = target.name;
    json["published"] = results.setup.published.title;
    json["machine"] = results.setup.machine.name;
    for (const auto& [key, formula] : target.json)
        json[key] = to_json(formula, "json." + key, results.formulas);
    if (!target.fit.axes.empty()) {
        json["parameters"] = parameters_json(target.fit, parameters_of(results.setup.machine, target.fit));
        json["fit"] = to_json(target, results.fits.all);
        json["splits"] = ordered_json::array();
        for (const Fit& fit : results.fits.splits) json["splits"].push_back(to_json(target, fit));
    }
    for (const Table& table : all_tables(results)) json["tables"][table.id] = tables::to_json(table);
    return json;
}

std::string to_page(Results& results, std::string_view page_template, const std::string& file) {
    std::map<std::string, std::string> by_id;
    for (const Table& table : all_tables(results)) by_id[table.id] = tables::to_markdown(table);
    return tables::filled_page(page_template, by_id, file);
}

}  // namespace systole::validate

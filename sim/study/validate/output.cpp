#include "sim/study/validate/output.h"

#include <map>
#include <utility>

#include "sim/view/table/page.h"

namespace systole::validate {
namespace {

/// To a millionth: the same text on every computer.
double rounded(double value) {
    return tables::rounded(value, 6);
}

nlohmann::ordered_json parameters_json(const Parameters& parameters) {
    nlohmann::ordered_json json;
    for (std::size_t i = 0; i < parameters.size(); ++i) json[fit_parameters[i]] = parameters[i];
    return json;
}

nlohmann::ordered_json to_json(const Fit& fit) {
    nlohmann::ordered_json json;
    json["fitted_to"] = nlohmann::ordered_json::array();
    for (const std::size_t workload : fit.fitted) json["fitted_to"].push_back(workload_names[workload]);
    json["parameters"] = parameters_json(fit.parameters);
    json["fitted_error"] = rounded(fit.fitted_error);
    if (fit.fitted.size() < workload_count) json["others_error"] = rounded(fit.others_error);
    return json;
}

std::vector<Table> all_tables(const Results& results) {
    std::vector<Table> all;
    for (const auto tables : {score_tables, counter_tables, performance_tables, study_tables}) {
        for (Table& table : tables(results)) all.push_back(std::move(table));
    }
    return all;
}

}  // namespace

std::string to_text(const Results& results, const terminal::Look& look) {
    std::string text;
    for (const Table& table : all_tables(results)) {
        if (table.id == "figures") continue;  // hundreds of lines: page and JSON have them
        if (!text.empty()) text += "\n\n";
        text += to_text(table, look);
    }
    return text;
}

nlohmann::ordered_json to_json(const Results& results) {
    nlohmann::ordered_json json;
    json["schema"] = "sim.validation_report/1";
    json["target"] = results.target.name;
    json["machine"] = results.machine.name;
    nlohmann::ordered_json& errors = json["total_cycles_error"];
    const CyclesErrors cycles = cycles_errors(results.published.table_3(useful_row), results.base);
    for (std::size_t i = 0; i < workload_count; ++i) {
        errors[std::string(workload_names[i])] = rounded(cycles.by_workload[i]);
    }
    errors["mean"] = rounded(cycles.mean);
    errors["others_mean"] = rounded(results.fits.others_mean);
    json["parameters"] = parameters_json(parameters_of(results.machine));
    json["peak_tera_ops"] = rounded(results.machine.peak_ops_per_second() / 1e12);
    json["fit"] = to_json(results.fits.all);
    json["splits"] = nlohmann::ordered_json::array();
    for (const Fit& fit : results.fits.splits) json["splits"].push_back(to_json(fit));
    for (const Table& table : all_tables(results)) json["tables"][table.id] = to_json(table);
    return json;
}

std::string to_page(const Results& results, std::string_view page_template, const std::string& file) {
    std::map<std::string, std::string> by_id;
    for (const Table& table : all_tables(results)) by_id[table.id] = to_markdown(table);
    return tables::filled_page(page_template, by_id, file);
}

}  // namespace systole::validate

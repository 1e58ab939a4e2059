#include "sim/study/validate/output.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

/// To a millionth: the same text on every computer.
double rounded(double value) {
    return std::round(value * 1e6) / 1e6 + 0.0;
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
    if (fit.fitted.size() < workload_count) json["held_out_error"] = rounded(fit.held_out_error);
    return json;
}

std::vector<Table> all_tables(const Results& results) {
    std::vector<Table> all;
    for (const auto tables : {counter_tables, performance_tables, efficiency_tables, study_tables}) {
        for (Table& table : tables(results)) all.push_back(std::move(table));
    }
    return all;
}

}  // namespace

std::string to_text(const Results& results, const terminal::Look& look) {
    std::string text;
    for (const Table& table : all_tables(results)) {
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
    errors["held_out_mean"] = rounded(results.fits.held_out_mean);
    json["parameters"] = parameters_json(parameters_of(results.machine));
    json["peak_tera_ops"] = rounded(results.machine.peak_ops_per_second() / 1e12);
    json["fit"] = to_json(results.fits.all);
    json["splits"] = nlohmann::ordered_json::array();
    for (const Fit& fit : results.fits.splits) json["splits"].push_back(to_json(fit));
    for (const Table& table : all_tables(results)) json["tables"][table.id] = to_json(table);
    return json;
}

std::string fill(std::string_view text, const std::map<std::string, std::string>& tables,
                 const std::string& file) {
    std::string page;
    std::set<std::string> shown;
    for (;;) {
        const std::size_t begin = text.find("{{");
        page += text.substr(0, begin);
        if (begin == std::string_view::npos) break;
        const std::size_t end = text.find("}}", begin);
        if (end == std::string_view::npos) {
            const std::string_view beginning = text.substr(begin, 40);
            throw machine::ConfigError(fmt::format("{}: a placeholder is not closed: {}", file,
                                                   beginning.substr(0, beginning.find('\n'))));
        }
        const std::string name(text.substr(begin + 2, end - begin - 2));
        const auto table = tables.find(name);
        if (table == tables.end()) {
            throw machine::ConfigError(
                fmt::format("{}: {{{{{}}}}} is no placeholder that anything stands for", file, name));
        }
        shown.insert(name);
        page += table->second;
        text.remove_prefix(end + 2);
        if (table->second.ends_with('\n') && text.starts_with('\n')) text.remove_prefix(1);
    }
    for (const auto& [name, table] : tables) {
        if (!shown.contains(name)) {
            throw machine::ConfigError(fmt::format("{}: {{{{{}}}}} is nowhere in it", file, name));
        }
    }
    return page;
}

std::string to_page(const Results& results, std::string_view page_template, const std::string& file) {
    std::map<std::string, std::string> tables;
    for (const Table& table : all_tables(results)) tables[table.id] = to_markdown(table);
    return fill(page_template, tables, file);
}

}  // namespace systole::validate

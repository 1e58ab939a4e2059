#include "sim/study/validate/validation_text.h"

#include <cmath>

#include "sim/study/validate/counters.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

/// To a millionth: the same text on every computer.
double rounded(double value) {
    return std::round(value * 1e6) / 1e6 + 0.0;
}

nlohmann::ordered_json to_json(const Parameters& parameters) {
    return {{"weight_memory.bandwidth_gb_per_s", parameters.weight_memory_gb_per_s},
            {"activation_unit.latency_ns", parameters.activation_latency_ns},
            {"host_interface.latency_ns", parameters.host_latency_ns}};
}

nlohmann::ordered_json to_json(const Fit& fit) {
    nlohmann::ordered_json json;
    json["fitted_to"] = nlohmann::ordered_json::array();
    for (const std::size_t workload : fit.fitted) json["fitted_to"].push_back(workload_names[workload]);
    json["parameters"] = to_json(fit.parameters);
    json["fitted_error"] = rounded(fit.fitted_error);
    if (fit.fitted.size() < workload_count) json["held_out_error"] = rounded(fit.held_out_error);
    return json;
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
    const CyclesErrors cycles = cycles_errors(results);
    for (std::size_t i = 0; i < workload_count; ++i) {
        errors[std::string(workload_names[i])] = rounded(cycles.by_workload[i]);
    }
    errors["mean"] = rounded(cycles.mean);
    errors["held_out_mean"] = rounded(results.fits.held_out_mean);
    json["parameters"] = to_json(parameters_of(results.machine));
    json["fit"] = to_json(results.fits.all);
    json["splits"] = nlohmann::ordered_json::array();
    for (const Fit& fit : results.fits.splits) json["splits"].push_back(to_json(fit));
    for (const Table& table : all_tables(results)) json["tables"][table.id] = to_json(table);
    return json;
}

}  // namespace systole::validate

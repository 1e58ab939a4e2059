#pragma once

#include <nlohmann/json.hpp>

namespace systole::tests {

/// The smallest valid report.
inline nlohmann::ordered_json small_report() {
    using Json = nlohmann::ordered_json;
    const Json unit{{"active_cycles", 6},     {"weight_stall_cycles", 3}, {"weight_shift_cycles", 2},
                    {"non_matrix_cycles", 1}, {"raw_stall_cycles", 1},    {"input_stall_cycles", 0},
                    {"useful_macs", 5},       {"unused_macs", 7}};
    return {{"schema", "sim.report/1"},
            {"machine", "m"},
            {"model", "n"},
            {"batch", 1},
            {"inferences", 1},
            {"cycles", 12},
            {"seconds", 0.5},
            {"inferences_per_second", 2.0},
            {"seconds_per_batch", 0.5},
            {"tops", {{"achieved", 0.25}, {"peak", 1.0}}},
            {"matrix_unit", unit},
            {"traffic", Json::object()},
            {"memory", Json::object()},
            {"layers",
             {{{"name", "l"}, {"kind", "dense"}, {"cycles", 12}, {"share", 1.0}, {"matrix_unit", unit}}}},
            {"energy",
             {{"joules", nullptr},
              {"watts", nullptr},
              {"joules_per_inference", nullptr},
              {"by_unit", Json::object()}}},
            {"comparison", Json::array()},
            {"predictions", Json::array()},
            {"accuracy", nullptr},
            {"timing_only", false},
            {"host_operations", Json::array()},
            {"simulator", Json::object()},
            {"configuration",
             {{"run", Json::object()}, {"machine", Json::object()}, {"baselines", Json::array()}}}};
}

}  // namespace systole::tests

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/study/validate/published.h"
#include "sim/view/table/table.h"

/// The files and bounds of a validation: configs/validation/*.json, schema sim.validation/1.
namespace systole::validate {

using tables::Cell;
using tables::Cells;
using tables::differences;
using tables::joined;
using tables::numbers;
using tables::Row;
using tables::Table;

/// The values of a machine parameter that the fit tries: `steps` values, evenly spaced, both ends included.
struct GridAxis {
    double from = 0.0;
    double to = 0.0;
    std::uint32_t steps = 1;

    double value(std::uint32_t index) const {
        return steps == 1 ? from : from + (to - from) * index / (steps - 1);
    }
};

/// The free parameters of the machine.
inline constexpr std::array<const char*, 3> fit_parameters{
    "weight_memory.bandwidth_gb_per_s", "activation_unit.latency_ns", "host_interface.latency_ns"};

struct FitGrid {
    std::array<GridAxis, fit_parameters.size()> axes;  ///< in the order of fit_parameters
    std::uint32_t refinements = 0;  ///< how often the steps around the best point are halved
};

/// The bounds that the simulator must meet. Errors are fractions, differences are percentage points.
struct Targets {
    double mean_cycles_error = 0.0;
    double cycles_error = 0.0;       ///< of each workload
    double counter_points = 0.0;     ///< of rows 1, 4, 5, 6 of Table 3, mean of the workloads
    double sensitivity_error = 0.0;  ///< of each point of Figure 11
    double efficiency_error = 0.0;   ///< of each bar of Figure 9
};

/// So many notes of the table "statements", at its end, are the reasons for what may not hold: memory, clock,
/// and larger arrays. The table shows those that are needed.
inline constexpr std::size_t statement_reasons = 3;

struct Target {
    std::string name;
    std::string published;           ///< in configs/published
    std::string machine;             ///< in configs/machines
    std::string cpu, gpu;            ///< in configs/baselines
    ByWorkload<std::string> models;  ///< graph files
    FitGrid fit;
    Targets targets;
    std::map<std::string, Table> tables;         ///< with the placeholders of Results::table, by id
    std::map<std::string, std::string> sources;  ///< reasons for these values, by key
};

/// From JSON; `file` leads the messages. Throws ConfigError.
Target read_target(const nlohmann::json& object, const std::string& file);
Target read_target(const std::filesystem::path& path);

}  // namespace systole::validate

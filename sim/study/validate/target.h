#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/record/spec.h"
#include "sim/run/run_config.h"
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

/// What a fit minimizes of the errors of its workloads.
enum class Loss : std::uint8_t { MeanAbsolute, MeanSquare, Largest };
inline constexpr std::array<std::string_view, 3> loss_names{"mean_absolute", "mean_square", "largest"};

struct FitGrid {
    std::array<GridAxis, fit_parameters.size()> axes;  ///< in the order of fit_parameters
    std::uint32_t refinements = 0;  ///< how often the steps around the best point are halved
    Loss loss = Loss::MeanAbsolute;
};

/// The bounds that the simulator must meet. Errors are fractions, differences are percentage points.
struct Targets {
    double mean_cycles_error = 0.0;
    double cycles_error = 0.0;       ///< of each workload
    double counter_points = 0.0;     ///< of rows 1, 4, 5, 6 of Table 3, mean of the workloads
    double sensitivity_error = 0.0;  ///< of each point of Figure 11
    double efficiency_error = 0.0;   ///< of each bar of Figure 9
};

/// A workload's network, pinned: a file with other content is refused.
struct PinnedModel {
    std::string file;
    std::string sha256;
};

/// How the compiler maps the workloads here, whatever it does for others.
struct PinnedMapping {
    std::string name;
    run::Mapping choices;
};

/// Another way to run or to score the workloads, with all else as it is.
struct Variant {
    std::string label;                    ///< what is done here
    std::string instead_of;               ///< what the target does
    std::string seen;                     ///< the published figures that were in view when this was chosen
    std::uint32_t constants = 0;          ///< of it that were fitted to published counters
    std::vector<run::Setting> machine{};  ///< keys of the machine, as `--set machine.KEY=VALUE` gives them
    std::vector<run::Setting> fitted_machine{};  ///< the same, of the machine with fitted parameters alone
    std::optional<run::MappingName> mapping_name{};  ///< another mapping than the target's
    std::vector<run::Setting> mapping{};             ///< keys of the mapping
    std::map<std::string, std::string> models{};     ///< other network files, by workload
    std::uint32_t batches = 1;   ///< above 1: the cycles of one of so many batches, one behind the other
    std::optional<Loss> loss{};  ///< what the fit minimizes
    bool by_row_9 = false;       ///< cycles follow from row 9 of Table 3, not from row 2
    bool sixteen_bit_figure_11 = false;    ///< Figure 11 with the LSTMs as they are
    std::optional<double> mlp0_percent{};  ///< MLP0's part of the weight of the MLPs in weighted means
};

/// So many notes of the table "statements", at its end, are the reasons for what may not hold: memory, clock,
/// and larger arrays. The table shows those that are needed.
inline constexpr std::size_t statement_reasons = 3;

struct Target {
    std::string name;
    std::string published;           ///< in configs/published
    std::string machine;             ///< in configs/machines: with fitted parameters
    std::string published_machine;   ///< in configs/machines: with published parameters alone
    std::string cpu, gpu;            ///< in configs/baselines
    ByWorkload<PinnedModel> models;  ///< graph files
    std::string shapes;              ///< the same networks as plain numbers, for rooflines
    PinnedMapping mapping;
    std::vector<Variant> zero_fit;    ///< of the published machine; nothing is fitted
    std::vector<Variant> mechanisms;  ///< of the published machine: what may cost time at the end of a layer
    FitGrid fit;
    std::vector<Variant>
        choices;  ///< those that were made with published counters in view, turned the other way
    Targets targets;
    std::map<std::string, Table> tables;         ///< with the placeholders of Results::table, by id
    std::map<std::string, std::string> sources;  ///< reasons for these values, by key
};

/// The mapping with other choices. `file` leads the messages. Throws ConfigError.
run::Mapping with(const run::Mapping& mapping, const std::vector<run::Setting>& settings,
                  const std::string& file);

/// From JSON; `file` leads the messages. Throws ConfigError.
Target read_target(const nlohmann::json& object, const std::string& file);
Target read_target(const std::filesystem::path& path);

}  // namespace systole::validate

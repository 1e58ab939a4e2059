#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/record/spec.h"
#include "sim/run/run_config.h"
#include "sim/study/sweep/metrics.h"
#include "sim/study/validate/lists.h"

/// A validation: what is run, what is computed from it, and what stands beside it. configs/validation/*.json,
/// schema sim.validation/2; docs/validations.md describes the file. All formulas are those of formulas.h.
namespace systole::validate {

/// Keys of a machine, with a number or a formula in which `machine.KEY` is the key's value before.
using MachineChanges = std::map<std::string, nlohmann::json>;

/// A network. With a hash it is pinned: a file with other content is refused.
struct Model {
    std::string file;
    std::string sha256;
    std::string batch;        ///< formula of the inferences of its one batch
    MachineChanges set = {};  ///< of the machines of all its runs, behind the changes of these
    std::string training;     ///< the file that says what of it is state (sim.training/1); empty: none is
};

/// One batch of each of some models, on one machine.
struct RunSet {
    std::string machine;                                 ///< in configs/machines; empty: that of the target
    MachineChanges set = {};                             ///< a formula that is a row is that of each model
    std::map<std::string, nlohmann::json> feeding = {};  ///< keys of the run's host: numbers or such formulas
    std::optional<machine::MappingName> mapping_name = {};  ///< another mapping than the target's
    std::map<std::string, nlohmann::json> mapping = {};     ///< keys of it
    std::vector<std::string> eight_bits = {};  ///< models whose activations have 8 bits in all layers
    std::vector<std::string> of = {};          ///< models; empty: those of the list `workloads`
    std::uint32_t batches = 0;  ///< above 1: one of so many batches, behind each other; 0: as the target says
    bool has_metrics = true;    ///< those of the target; of other networks, reports may lack what they name
};

/// A roofline of the shapes' networks (null_models/). A formula that is empty is that of the first one.
struct RooflineSet {
    std::string clock_hz;
    std::string array;
    std::string weight_bytes_per_second;
    std::string link_bytes_per_second;
    bool eight_bits = false;  ///< of all activations
};

/// A number by which a null model is brought nearest to measured numbers; all are rows.
struct BestConstant {
    std::string measured;
    std::string predicted;
    std::string times;  ///< empty: a factor of `predicted`; else so many times it is added
};

/// A network whose sums alone are published: the multiply-accumulates and weights are divided equally among
/// its layers with weights. All are formulas.
struct EvenNetwork {
    std::string weight_layers;
    std::string other_layers;
    std::string weights;
    std::string macs;
};

/// A published figure of a die of a baseline, to which its efficiency is fitted.
struct BaselinePoint {
    std::string name;     ///< "NAME" of its known number BASELINE.NAME; may be empty
    std::string source;   ///< "Table 4"
    std::string unit;     ///< "TOPS" or "inf/s"
    std::string network;  ///< of the even networks
    std::string batch;
    std::string published;
    std::string latency_ms;  ///< published; may be empty
};

struct BaselineSet {
    std::string file;   ///< in configs/baselines
    std::string label;  ///< "CPU"
    std::vector<BaselinePoint> points = {};
    // The largest batch within a limit of latency.
    std::string within_source, within_network, within_limit_ms, within_published;
};

/// The points of two baselines of the same networks, one over the other.
struct BaselineRatio {
    std::string source;
    std::string of, than;
    std::string published;  ///< a row
    std::string points;     ///< the source of the points
};

/// Measured numbers of the workloads, each the sum of constants times terms: a model without a chip.
struct NullRow {
    std::string name;                          ///< "usb"
    std::string measured;                      ///< a row of the list `workloads`
    std::map<std::string, std::string> terms;  ///< rows, by the constant's name; absent: none of it
};
struct NullModel {
    std::vector<NullRow> rows;
};

/// The values of a machine parameter that the fit tries: `steps` values, evenly spaced, both ends included.
struct GridAxis {
    std::string key;
    std::vector<std::string> of = {};  ///< runs of the fit's rows whose machine has it; empty: all
    double from = 0.0;
    double to = 0.0;
    std::uint32_t steps = 1;
    std::uint32_t digits = 0;  ///< behind the point, in tables

    double value(std::uint32_t index) const {
        return steps == 1 ? from : from + (to - from) * index / (steps - 1);
    }
};

/// What a fit minimizes of the errors of its workloads.
enum class Loss : std::uint8_t { MeanAbsolute, MeanSquare, Largest };
inline constexpr std::array<std::string_view, 3> loss_names{"mean_absolute", "mean_square", "largest"};

/// Errors of a run that a fit minimizes, one for each workload.
struct FitRow {
    std::string name;   ///< "usb"; empty: the only row
    std::string run;    ///< of the target's runs; empty: one batch on the target's machine
    std::string error;  ///< a row of the list `workloads`; `trial.METRIC` is of the point's run
};

struct FitGrid {
    std::vector<GridAxis> axes;
    std::uint32_t refinements = 0;  ///< how often the steps around the best point are halved
    Loss loss = Loss::MeanAbsolute;
    std::vector<FitRow> rows;    ///< of each workload; all are left out with it
    std::string label = "all";   ///< of the fit to all workloads
    std::uint32_t set_size = 0;  ///< of the sets of workloads that are fitted besides all of them; 0: none
    std::string measured, predicted;  ///< rows of a null model with one factor, fitted to the same sets
};

/// Constants of ours that are fitted to rows by formulas, where no value of a constant needs a simulation of
/// its own.
struct FormulaFit {
    std::string name;              ///< "links_fit"
    std::string of = "workloads";  ///< the list to whose elements they are fitted
    std::string leave_out;         ///< a text of the workloads: those with the same are left out together
    FitGrid grid;                  ///< its axes are the constants; one row
};

/// What a figure of ours is made of.
enum class Origin : std::uint8_t {
    Simulated,  ///< from the cycles, counters or energy of our runs alone
    WithHost,   ///< the same, with published time of the host in addition
    Input,      ///< a published number that the machine file repeats, or one that is calibrated to it, or a
                ///< straight line between two of these
    Inherited,  ///< a published figure times a ratio of ours, or published figures alone
    Model,      ///< from the models of CPU and GPU, which know two watts and three efficiencies of each
};
inline constexpr std::array<std::string_view, 5> origin_names{
    "simulated", "with the published host time", "input or calibrated", "inherited", "models of CPU and GPU"};

/// A published figure and ours, or a row of them: then `what` is the element's name.
struct FigureFormulas {
    std::string place;  ///< "Table 3, row 4"
    std::string what;   ///< "MLP0"; of a row, what stands behind the element's name
    Origin origin = Origin::Simulated;
    std::uint32_t digits = 1;
    std::string published;
    std::string ours;
    std::string roofline;  ///< may be empty
    std::string rows_of;   ///< "baselines": instead, those of the baselines' models; may be empty
};

/// A published figure that would notice a wrong parameter of the machine: from the runs of `parameter_runs`
/// alone.
struct NoticingFormulas {
    std::string name;
    bool is_share = false;  ///< compared by the difference in points, not by the ratio
    std::string published;
    std::string ours;
    std::string machine;  ///< the only one that it is of; empty: any
};

/// A note, or one that stands where a formula is 0.
struct Note {
    std::string text;
    std::string unless;  ///< may be empty
};

enum class CellKind : std::uint8_t { Plain, Percent, Difference, Rough, Met };
inline constexpr std::array<std::string_view, 5> cell_kind_names{"number", "percent", "difference", "rough",
                                                                 "met"};

/// One of three: a text with formulas in braces, a number, or a row of numbers, each in a cell.
struct CellFormulas {
    std::string text;  ///< empty: nothing
    std::string value;
    std::string row;
    std::uint32_t digits = 0;
    CellKind as = CellKind::Plain;  ///< percent: of a fraction
};

/// A row of a table, or several that belong together.
struct RowFormulas {
    std::string label;
    std::vector<CellFormulas> cells = {};
    std::vector<RowFormulas> rows = {};  ///< instead of label and cells
};

struct TableFormulas {
    std::string id;
    std::string title;
    std::vector<std::string> columns;
    std::vector<RowFormulas> rows = {};
    std::string rows_of;  ///< rows that follow, from one of the studies; may be empty
    std::vector<Note> notes = {};
    std::vector<std::string> hosts = {};  ///< sections of the published file whose hosts a note names
};

/// A choice that was made with published counters in view, turned the other way.
struct Choice {
    std::string label;
    std::string instead_of;            ///< what the target does
    std::string seen;                  ///< the published figures that were in view
    nlohmann::json change;             ///< of the target's file, as a JSON merge patch (RFC 7396)
    std::vector<std::string> without;  ///< scores that it does not have
};

/// A number by which choices are compared.
struct Score {
    std::string name;
    std::string value;
    bool is_long = false;  ///< computed with --refit alone
};

struct Target {
    std::string name;
    std::string published;     ///< in configs/published
    std::string machine;       ///< in configs/machines
    MachineChanges set;        ///< changes of that machine
    MachineChanges set_all;    ///< changes of every machine of the runs
    machine::Mapping mapping;  ///< of all runs that name no other
    std::uint32_t batches = 1;
    std::string shapes;  ///< the networks as plain numbers, for rooflines
    Lists lists;
    std::map<std::string, Model> models;
    std::vector<sweep::Metric> metrics;
    std::map<std::string, RunSet> runs;
    std::vector<std::pair<std::string, RooflineSet>> rooflines;
    std::map<std::string, BestConstant> constants;
    std::map<std::string, NullModel> null_models;
    std::map<std::string, EvenNetwork> networks;
    std::map<std::string, BaselineSet> baselines;
    std::vector<BaselineRatio> ratios;
    FitGrid fit;
    std::vector<FormulaFit> formula_fits;  ///< one after the other: a formula may name those before it
    std::map<std::string, nlohmann::json> values;  ///< formulas, or null for what is absent
    std::vector<FigureFormulas> figures;
    std::vector<std::string> groups;  ///< places of figures that begin so are counted together
    std::vector<NoticingFormulas> noticing;
    std::vector<std::string> parameter_runs;  ///< names of runs; of these, machine and changes are replaced
    std::vector<TableFormulas> tables;
    std::map<std::string, std::string> json;  ///< further numbers of the JSON output, by key
    std::vector<Choice> choices;
    std::vector<Score> scores;
    std::map<std::string, std::string> sources;  ///< reasons for these values, by key
};

/// The mapping with other keys. `file` leads the messages. Throws ConfigError.
machine::Mapping with(const machine::Mapping& mapping, const std::map<std::string, nlohmann::json>& keys,
                      const std::string& file);

/// From JSON; `file` leads the messages. Throws ConfigError.
Target read_target(const nlohmann::json& object, const std::string& file);
Target read_target(const std::filesystem::path& path);

}  // namespace systole::validate

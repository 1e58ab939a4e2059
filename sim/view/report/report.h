#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/run/baselines/expected.h"
#include "sim/run/record/record.h"
#include "sim/view/energy/power_over_time.h"
#include "sim/view/energy/run_energy.h"
#include "sim/view/occupancy/row_values.h"
#include "sim/view/report/explanations.h"
#include "sim/view/terminal/look.h"

/// What a run measured. Each figure is computed once, here, from counters; JSON and text only print.
/// A ratio without a denominator is absent.
namespace systole::report {

/// Counters by name, in the order in which their unit declares them.
using CounterValues = std::vector<std::pair<std::string, std::uint64_t>>;

/// Where the cycles of the matrix unit went: of the run, of one layer, of several.
struct MatrixUnit {
    std::uint64_t active_cycles = 0;
    std::uint64_t weight_stall_cycles = 0;
    std::uint64_t weight_shift_cycles = 0;
    std::uint64_t non_matrix_cycles = 0;
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    CounterValues counters;  ///< all of the unit, those above among them

    /// Both together.
    MatrixUnit& operator+=(const MatrixUnit& other);

    std::uint64_t cycles() const {
        return active_cycles + weight_stall_cycles + weight_shift_cycles + non_matrix_cycles;
    }
};

/// A place on a processor's roofline.
struct Roofline {
    double macs_per_weight_byte = 0.0;
    double ridge = 0.0;       ///< MACs a weight byte from which arithmetic is the bound
    double bound_tops = 0.0;  ///< the most that the processor allows at this place
    double peak_tops = 0.0;   ///< the most that it allows anywhere
};

/// The matrix unit's cycles under one tag. The layers' cycles sum to those of the run.
struct Layer {
    run::Tag tag = 0;
    std::string name;  ///< "(outside layers)" for tag 0: transfers to and from the host
    std::string kind;
    MatrixUnit matrix_unit;
    std::optional<double> share;              ///< of the run's cycles
    std::optional<double> array_utilization;  ///< useful MACs of all MACs in active cycles
    std::uint64_t macs_per_inference = 0;     ///< what the network asks for
    std::optional<energy::Joules> energy;     ///< absent where energy is from published watts
    std::uint64_t weight_bytes = 0;           ///< fetched for it
    std::optional<double> achieved_tops;      ///< while it had the matrix unit
    std::optional<Roofline> roofline;         ///< absent where it fetches no weights
};

/// The matrix unit's cycles under all tags that use one kind of matrix instruction.
struct InstructionKind {
    std::string instruction;     ///< as in assembly; "mixed" under tags with several kinds, "none" with none
    std::uint64_t executed = 0;  ///< matrix instructions, repeats not counted
    MatrixUnit matrix_unit;
};

/// Bytes over one path, and the part of the path's bandwidth they took over the whole run.
struct Traffic {
    std::string path;  ///< the key in report.json, without "_bytes"
    std::uint64_t bytes = 0;
    std::optional<double> utilization;
};

using run::InstructionLine;

/// What moved over a path between two units, and the part of what the path could have moved in the run.
struct Path {
    std::string_view from;  ///< units, named as in the configuration
    std::string_view to;
    std::uint64_t moved = 0;
    std::string_view unit;  ///< of `moved`: "bytes", "rows" or "row passes" (of the array)
    std::optional<double> utilization;
};

/// The most that lay in each memory in each window of the run; the last window ends with it.
struct MemoryOverTime {
    std::uint64_t window_cycles = 0;
    std::vector<std::uint64_t> unified_buffer_bytes;
    std::vector<std::uint64_t> accumulator_rows;
    std::vector<std::uint64_t> weight_fifo_tiles;
};

/// A value in the unified buffer: its rows, each from its first write to its last read.
struct BufferValue {
    std::string name;        ///< the layer, or the host buffer, that wrote it
    occupancy::Shape steps;  ///< at least one
};

struct UnifiedBufferMap {
    std::uint64_t until = 0;          ///< values that begin before this cycle are all there
    std::uint64_t step_cycles = 0;    ///< the cycles of a step's rows are known to within so many
    std::vector<BufferValue> values;  ///< in the order of their first write
    std::uint64_t left_out = 0;       ///< later ones: there were too many
};

/// What an event-by-event account says besides: of a machine with a section `energy`.
struct EventEnergy {
    double die_watts = 0.0;        ///< without weight memory, which is on the board
    double published_watts = 0.0;  ///< of the busy chip; 0 where the machine file does not say
    double die_dynamic_factor = 1.0;
    double uncalibrated_joules = 0.0;  ///< all there is, were the factor 1
    double uncalibrated_die_watts = 0.0;
    std::optional<energy::PowerOverTime> over_time;  ///< where the run asks for it
};

/// By event, or from published watts: busy watts while the program runs. The static part is what an idle chip
/// takes.
struct Energy {
    double static_joules = 0.0;
    double dynamic_joules = 0.0;
    double watts = 0.0;
    std::optional<double> joules_per_inference;
    std::vector<std::pair<std::string, double>> by_unit;  ///< joules; they sum to those of the run
    std::optional<EventEnergy> events;                    ///< absent where watts are the published ones

    double joules() const { return static_joules + dynamic_joules; }
};

/// Against what a baseline's efficiency model expects of it, or what was measured on it.
struct ComparisonWith {
    double inferences_per_second = 0.0;  ///< of one die
    double speedup = 0.0;                ///< die against die
    baselines::PerformancePerWatt performance_per_watt;
};

struct ComparisonExpected : ComparisonWith {
    baselines::Expected model;
    baselines::Efficiency efficiency;  ///< the model's parameters
};

/// The network's matrix products alone.
struct ComparisonMeasured {
    ComparisonWith fp32;
    ComparisonWith int8;
};

struct Comparison {
    std::string baseline;
    double inferences_per_second = 0.0;  ///< one die, fp32: an upper bound by its roofline
    bool memory_bound = false;
    double watts = 0.0;
    double speedup = 0.0;  ///< die against die
    baselines::PerformancePerWatt performance_per_watt;
    std::optional<Roofline> roofline = {};  ///< of one die, fp32; absent where the network has no weights
    /// The same bound, were it to compute in 8-bit integers; absent where it has no peak in those.
    std::optional<double> int8_inferences_per_second;
    std::optional<double> int8_speedup;
    std::optional<double> joules_per_inference;
    /// Absent where the baseline has no efficiency, or the run was given a program and not a network.
    std::optional<ComparisonExpected> expected;
    /// Absent where this network was not measured on it at this batch.
    std::optional<ComparisonMeasured> measured;
};

/// What the run makes of the claim against one baseline.
struct ClaimAgainst {
    std::string baseline;
    std::string_view basis;    ///< "measured", "expected" or "upper bound": what the baseline does
    double performance = 0.0;  ///< die against die
    baselines::PerformancePerWatt performance_per_watt;
    /// "below", "within", "above"; of performance per watt by the incremental figure, which the claim speaks
    /// of, else by the total. Empty where there are no watts.
    std::string_view performance_place;
    std::string_view performance_per_watt_place;
};

/// Where the multiply-accumulates went that the array had cells and cycles for. They sum to 1.
struct ArrayShares {
    double useful = 0.0;
    double unused = 0.0;  ///< in active cycles; at 16 bits, cells that wait for their other half count, too
    double weight_stall = 0.0;
    double weight_shift = 0.0;
    double non_matrix = 0.0;
};

/// "15X - 30X faster than its contemporary GPU or CPU, with TOPS/Watt about 30X - 80X higher": Jouppi et al.,
/// ISCA 2017, abstract.
struct Claim {
    static constexpr double least_performance = 15.0;
    static constexpr double most_performance = 30.0;
    static constexpr double least_performance_per_watt = 30.0;
    static constexpr double most_performance_per_watt = 80.0;

    std::vector<ClaimAgainst> against;
    ArrayShares array;
};

struct HostOperation {
    std::string kind;
    std::string layer;
    std::optional<double> seconds;  ///< absent where the run names no host
};

/// How fast the simulator itself ran. The only part of a report that differs between equal runs.
struct Simulator {
    double wall_seconds = 0.0;
    double prepare_seconds = 0.0;
    double simulate_seconds = 0.0;
    double gemm_seconds = 0.0;
    std::optional<double> simulated_cycles_per_second;
    std::optional<double> macs_per_second;  ///< absent in a timing-only run
    std::uint64_t peak_rss_bytes = 0;
};

struct Report {
    std::string machine;
    /// What the run changed in the machine file: key and value.
    std::vector<std::pair<std::string, std::string>> machine_settings;
    std::string model;
    std::uint32_t batch = 0;
    std::uint64_t inferences = 0;
    std::uint64_t batches = 0;

    std::uint64_t cycles = 0;
    double clock_mhz = 0.0;
    double seconds = 0.0;
    std::optional<double> inferences_per_second;
    std::optional<double> seconds_per_batch;  ///< mean
    std::optional<double> achieved_tops;
    double peak_tops = 0.0;
    std::optional<double> peak_share;  ///< achieved of peak
    std::optional<Roofline> roofline;

    MatrixUnit matrix_unit;
    std::uint64_t array_cells = 0;
    std::vector<Layer> layers;
    std::optional<Explanations> explanations;        ///< where the run asked for them
    std::vector<InstructionKind> instruction_kinds;  ///< their cycles sum to those of the run
    std::vector<Traffic> traffic;
    std::vector<Path> paths;  ///< those of the traffic and those on the chip
    std::uint64_t unified_buffer_peak_bytes = 0;
    std::uint64_t unified_buffer_bytes = 0;
    std::uint64_t weight_memory_used_bytes = 0;
    std::uint64_t weight_memory_bytes = 0;
    std::optional<MemoryOverTime> memory_over_time;      ///< where the run noted its occupancy
    std::optional<UnifiedBufferMap> unified_buffer_map;  ///< where the run noted its occupancy
    std::uint64_t instructions = 0;
    std::vector<std::pair<std::string, CounterValues>> units;  ///< every counter of every unit

    std::optional<Energy> energy;  ///< absent where the machine has no watts
    std::vector<Comparison> comparison;
    std::optional<Claim> claim;  ///< absent where there is no comparison
    std::vector<HostOperation> host_operations;
    std::optional<double> host_seconds;

    bool timing_only = false;
    std::vector<std::uint32_t> predictions;
    std::vector<float> first_probabilities;  ///< of the first predictions
    run::Pictures pictures;                  ///< none where the run chose none
    std::optional<double> accuracy;
    std::optional<double> float_accuracy;
    std::optional<std::uint64_t> float_agreements;

    std::vector<InstructionLine> instruction_lines;  ///< where the run asks for them
    run::RegisterDump registers;                     ///< of the cycles that the run asks for
    std::vector<run::BufferContents> buffers;        ///< those that the run asks for
    std::vector<std::string> unfilled_buffers;       ///< input buffers that nothing filled

    Simulator simulator;
    nlohmann::ordered_json configuration;  ///< the effective one: run, machine, baselines
};

/// Where the run asked for it.
std::optional<energy::PowerOverTime> power_over_time(const run::RunRecord& record);
/// Nothing where the machine has neither a section `energy` nor published watts.
std::optional<Energy> make_energy(const run::RunRecord& record, double seconds);
/// What was spent under a tag that had so many of the matrix unit's cycles; absent without a section
/// `energy`.
std::optional<energy::Joules> energy_under(const run::RunRecord& record, run::Tag tag, std::uint64_t cycles);

/// The matrix unit's cycles under one tag.
MatrixUnit matrix_unit_under(const run::Counters& counters, run::Tag tag);

/// The split by kinds of matrix instructions, by what the program does under each of its tags.
std::vector<InstructionKind> by_instruction_kind(std::span<const run::TagFacts> tags,
                                                 const run::Counters& counters);

/// Between weight memory, host and the units, in the order of the data's way.
std::vector<Path> make_paths(const run::RunRecord& record, const std::vector<Traffic>& traffic);

/// Of a run that noted its occupancy.
MemoryOverTime make_memory_over_time(const run::RunRecord& record);
UnifiedBufferMap make_unified_buffer_map(const run::RunRecord& record);

/// A line for each, its text last and whole however long; on a terminal it goes on below.
std::string instruction_table(std::span<const InstructionLine> lines, const terminal::Look& look = {});

/// A line for each cycle, however long: a cell's registers beside the next cell's, row by row. On a terminal
/// as many cells beside each other as fit, the others in tables below.
std::string register_table(const run::RegisterDump& dump, const terminal::Look& look = {});

/// A title and the values, each line led by the number of its first.
std::string buffer_text(const run::BufferContents& buffer, const terminal::Look& look = {});

/// From the report's comparison and matrix unit.
std::optional<Claim> make_claim(const Report& report);
/// A line for each baseline and, where the run falls short against one, where the array's cycles went.
std::string claim_text(const Claim& claim, const terminal::Look& look = {});
nlohmann::ordered_json claim_json(const std::optional<Claim>& claim);

/// From all that is known of a run.
Report make_report(const run::RunRecord& record);

/// report.json: the keys of "sim.report/1".
nlohmann::ordered_json to_json(const Report& report);

/// The parts of the text, in their order: "summary", "matrix_unit", "layers", ...
std::vector<std::string_view> section_names();

/// For people: the sections named, in the order of section_names, or all of them.
std::string to_text(const Report& report, std::span<const std::string> sections = {},
                    const terminal::Look& look = {});

}  // namespace systole::report

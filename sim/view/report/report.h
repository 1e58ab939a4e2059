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
#include "sim/view/area/area.h"
#include "sim/view/energy/power_over_time.h"
#include "sim/view/energy/run_energy.h"
#include "sim/view/occupancy/occupancy.h"
#include "sim/view/report/batching.h"
#include "sim/view/report/explanations.h"
#include "sim/view/report/family.h"
#include "sim/view/terminal/look.h"

/// The figures of a run. Each is computed once, here, from counters; JSON and text only print it. A ratio
/// whose denominator is zero is absent.
namespace systole::report {

/// Counters by name, in the order in which their unit declares them.
using CounterValues = std::vector<std::pair<std::string, std::uint64_t>>;

/// A group of counters that belongs to the main unit: parts of its cycles, and what else it did.
struct MainGroup {
    std::string name;  ///< its key in report.json, in the main unit's: "non_matrix_reasons"
    CounterValues counters;
};

/// The cycles of the main unit by class, for the run, a layer or several layers.
struct MainUnit {
    std::vector<std::uint64_t> classes;  ///< cycles, in the order of machine::MainUnit
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    CounterValues counters;         ///< all counters of the unit, including those of the classes
    std::vector<MainGroup> groups;  ///< those of machine::MainUnit

    /// Adds cycles, MACs and counters of the same unit.
    MainUnit& operator+=(const MainUnit& other);

    std::uint64_t cycles() const;
    /// One of the counters. Throws std::logic_error if there is none of the name.
    std::uint64_t at(std::string_view counter) const;
};

/// A point on a processor's roofline.
struct Roofline {
    double macs_per_weight_byte = 0.0;
    double ridge = 0.0;       ///< MACs a weight byte above which arithmetic is the bound
    double bound_tops = 0.0;  ///< upper bound of the processor at this point
    double peak_tops = 0.0;   ///< upper bound of the processor at any point
};

/// A lower bound of the run's or a layer's cycles; machine::Bound says what name, part and meaning are.
struct LeastCycles {
    std::string name;
    std::string part;
    std::string meaning;
    std::uint64_t cycles = 0;
};

/// Lower bounds of the run's or a layer's cycles, and two figures that judge the compiler by them.
struct Bounds {
    std::vector<LeastCycles> least;  ///< in the order of report.json
    /// The cycles over the sum, over the layers, of each layer's largest bound besides `macs`: how much the
    /// schedule leaves unhidden. Below 1 where layers overlap.
    std::optional<double> ratio;
    std::optional<double> fill;  ///< `macs` over `array`: how much of the array the mapping fills

    /// Throws std::logic_error if there is no such bound.
    const LeastCycles& at(std::string_view name) const;
    /// The largest besides `macs`, which is of no mapping; of equal ones the first.
    LeastCycles largest() const;
};

/// The main unit's cycles under one tag. The layers' cycles sum to those of the run.
struct Layer {
    run::Tag tag = 0;
    std::string name;  ///< "(outside layers)" for tag 0: transfers to and from the host
    std::string kind;
    MainUnit main_unit;
    Bounds bounds;
    std::optional<double> share;              ///< of the run's cycles
    std::optional<double> array_utilization;  ///< useful MACs of all MACs in active cycles
    std::uint64_t macs_per_inference = 0;     ///< that the network needs
    std::optional<energy::Joules> energy;     ///< absent where energy is from published watts
    std::uint64_t weight_bytes = 0;           ///< fetched for the layer
    std::optional<double> achieved_tops;      ///< during the layer's cycles
    std::optional<Roofline> roofline;         ///< absent if the layer fetches none from weight memory
};

/// The main unit's cycles under all tags that use one kind of its instructions.
struct InstructionKind {
    std::string instruction;     ///< as in assembly; "mixed" under tags with several kinds, "none" with none
    std::uint64_t executed = 0;  ///< of these instructions, repeats not counted
    MainUnit main_unit;
};

/// Bytes over one path, and the share of the path's bandwidth that they used over the whole run.
struct Traffic {
    std::string path;   ///< the key in report.json, without "_bytes"
    std::string label;  ///< in texts
    std::uint64_t bytes = 0;
    std::optional<double> utilization;
};

using run::InstructionLine;

/// The amount that moved over a path between two units, and its share of the most that the path could have
/// moved in the run.
struct Path {
    machine::DataPath path;
    std::uint64_t moved = 0;
    std::optional<double> utilization;
};

/// Peak occupancy of a memory in each window of the run, in the unit of its description.
struct OccupiedOverTime {
    machine::Occupied memory;
    std::vector<std::uint64_t> most;
};

/// That of each memory; the last window ends with the run.
struct MemoryOverTime {
    std::uint64_t window_cycles = 0;
    std::vector<OccupiedOverTime> memories;
};

/// A value in a memory: its rows, each from its first write to its last read.
struct BufferValue {
    std::string name;        ///< the layer, or the host buffer, that wrote it
    occupancy::Shape steps;  ///< at least one
};

/// The values of a memory.
struct MemoryMap {
    std::string figure;               ///< its name in report.json
    std::uint64_t until = 0;          ///< all values that begin before this cycle are included
    std::uint64_t step_cycles = 0;    ///< tolerance of a step's begin and end, in cycles
    std::vector<BufferValue> values;  ///< in the order of their first write
    std::uint64_t left_out = 0;       ///< number of later values, which are left out
};

/// What the calibrated factor of a section `energy` does.
struct Calibration {
    double die_dynamic_factor = 1.0;
    double uncalibrated_joules = 0.0;  ///< the total with a calibration factor of 1
    std::optional<double> uncalibrated_die_watts;
};

/// Additional figures of event-by-event energy, for a machine that gives events their energy.
struct EventEnergy {
    std::optional<double> die_watts;         ///< without weight memory, host and what else is on the board
    double published_watts = 0.0;            ///< of the busy chip; 0 where the machine file does not say
    std::optional<Calibration> calibration;  ///< of a machine with a section `energy`
    std::optional<energy::PowerOverTime> over_time;  ///< where the run asks for it
};

/// Energy by event, or from published watts: busy watts while the program runs. The static part is the energy
/// of an idle chip.
struct Energy {
    double static_joules = 0.0;
    double dynamic_joules = 0.0;
    std::optional<double> watts;
    std::optional<double> joules_per_inference;
    std::vector<std::pair<std::string, double>> by_unit;  ///< joules; they sum to those of the run
    std::optional<EventEnergy> events;                    ///< absent where watts are the published ones
    std::vector<std::string> notes;  ///< sentences: what does not follow the machine's array and clock

    /// Whether the static part is known: a machine may have published watts of the busy chip alone. Else all
    /// energy counts as dynamic here, and no text tells the parts.
    bool knows_static = true;
    double static_watts = 0.0;
    double voltage = 1.0;  ///< over that at which the machine's watts and energies hold

    double joules() const { return static_joules + dynamic_joules; }
};

/// The host's time in the comparison with baselines. All ratios there have it in the chip's figure, unless
/// the run leaves it out or the machine does not state it.
struct HostTime {
    bool wanted = true;  ///< by the run
    std::optional<machine::HostPercent> percent = {};
    std::string source = {};           ///< of the typical percentage; empty: none given
    bool in_baselines = false;         ///< in the figures of at least one
    double inferences_per_second = 0;  ///< of the chip, with host time if `in_chip`
    std::optional<baselines::Band> band = {};

    bool in_chip() const { return wanted && percent; }
};

/// Comparison with the expected figure of a baseline's efficiency model, or with its measured figure.
struct ComparisonWith {
    double inferences_per_second = 0.0;  ///< of one die
    double speedup = 0.0;                ///< die against die
    baselines::PerformancePerWatt performance_per_watt;
    std::optional<baselines::Band> band = {};        ///< of its inferences a second
    std::optional<baselines::Band> ratio_band = {};  ///< of speedup and performance per watt
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
    /// The same bound for 8-bit integers; absent if the baseline has no peak in these.
    std::optional<double> int8_inferences_per_second;
    std::optional<double> int8_speedup;
    std::optional<double> joules_per_inference;
    /// Absent if the baseline has no efficiency, or if the run has a program instead of a network.
    std::optional<ComparisonExpected> expected;
    /// Absent if this network was not measured on the baseline at this batch.
    std::optional<ComparisonMeasured> measured;
    /// Of the speedups over upper bounds, and of their performance per watt.
    std::optional<baselines::Band> ratio_band = {};
    /// Whether its expected figure includes its host's time. It does if it was fitted to published figures,
    /// not to products that were measured alone.
    bool host_time = false;
};

/// How the run compares with the paper's claim (Claim below) against one baseline.
struct ClaimAgainst {
    std::string baseline;
    std::string_view basis;    ///< the baseline's figure: "measured", "expected" or "upper bound"
    double performance = 0.0;  ///< die against die
    baselines::PerformancePerWatt performance_per_watt;
    std::optional<baselines::Band> band = {};  ///< of both
    /// "below", "within", "above". Performance per watt is judged by the incremental figure, as in the
    /// paper's claim, or by the total if there is none. Empty if watts are not known.
    std::string_view performance_place;
    std::string_view performance_per_watt_place;
};

/// Shares of the multiply-accumulates that the array could have done (cells × cycles). They sum to 1.
struct ArrayShares {
    double useful = 0.0;
    double unused = 0.0;  ///< of active cycles: in cells that did no work for the network
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
    HostTime host_time;
    ArrayShares array;
};

/// A call against one inference of a baseline.
struct CallAgainst {
    std::string baseline;
    std::string_view basis;                ///< of the baseline's time: "expected" or "upper bound"
    double seconds = 0.0;                  ///< of its inference
    std::optional<double> joules = {};     ///< of it, at the baseline's busy watts
    std::optional<double> speedup = {};    ///< of the call
    std::optional<double> per_joule = {};  ///< inferences a joule, of the call over the baseline's

    /// Whether the network belongs on this machine, with the numbers that say so.
    std::string sentence(std::string_view model, bool is_warm) const;
};

/// What a call of the host takes, on a machine that computes a batch in each call. The first call also brings
/// the parameters that stay in the memory.
struct Call {
    std::string host;      ///< the processor; empty where the run names none
    double host_us = 0.0;  ///< of a call, besides the bytes
    double read_gb_per_s = 0.0;
    double write_gb_per_s = 0.0;
    std::uint64_t later = 0;  ///< calls after the first
    // Absent where the run does not have them.
    std::optional<double> cold = {};  ///< seconds of the first call
    std::optional<double> warm = {};  ///< of a later one, mean
    std::optional<double> cold_joules = {};
    std::optional<double> warm_joules = {};
    std::vector<CallAgainst> against = {};

    /// Of a later call, else of the first.
    std::optional<double> seconds() const { return warm ? warm : cold; }
    std::optional<double> joules() const { return warm ? warm_joules : cold_joules; }
};

/// What the article says of its Coral board, beside the figures.
inline constexpr std::string_view edge_claim =
    "(the article has its TPU on a Coral Dev Board, whose speed and watts it does not give: 15-30x the "
    "performance and 30-80x the performance/W are those of TPU v1)";

/// Work of the host: on inputs and outputs, beside the run's time, or a segment of the network, in it.
struct HostOperation {
    std::string kind;  ///< "quantize_input", "softmax", "segment"
    std::string layer;
    std::optional<double> seconds;  ///< absent where the run names no host
    // Of a segment.
    std::vector<std::string> layers = {};  ///< that it computes
    std::optional<double> share = {};      ///< of the run's seconds
    std::uint64_t images = 0;              ///< inferences

    bool is_segment() const { return kind == "segment"; }
};

/// The multiply-accumulates of layers that run on the host, not on the chip.
struct HostShare {
    struct Layer {
        std::string name;
        std::uint64_t macs = 0;  ///< of one inference
    };
    std::vector<Layer> layers;            ///< those with multiply-accumulates, at least one
    std::uint64_t macs = 0;               ///< of one inference, in all of them
    double macs_share = 0.0;              ///< of the network's
    double seconds = 0.0;                 ///< of the segments with these layers
    std::optional<double> seconds_share;  ///< of the run's seconds
    bool is_all = false;                  ///< the chip has no multiply-accumulates
};

/// "c, d and 3 more".
std::string layers_text(std::span<const std::string> names);
std::string layers_text(const HostShare& share);

/// Why there is no figure where a run asks for one: each a line, empty where there is one, or nobody asks.
struct LeftOut {
    std::string speed;       ///< of the chip: throughput, latency and what follows from them
    std::string requests;    ///< that arrive at random
    std::string comparison;  ///< with baselines, and the claim
};

/// How fast the simulator itself ran. The only part of a report that differs between equal runs.
struct Simulator {
    double wall_seconds = 0.0;
    double read_seconds = 0.0;     ///< the file of the network or program, a part of prepare_seconds
    double prepare_seconds = 0.0;  ///< reading, quantizing, compiling
    double simulate_seconds = 0.0;
    std::optional<double> gemm_seconds;  ///< absent where they are not timed
    std::optional<double> simulated_cycles_per_second;
    std::optional<double> macs_per_second;  ///< absent in a timing-only run
    std::uint64_t peak_rss_bytes = 0;
};

/// The times of batches in seconds: see run::BatchLatency.
struct BatchSeconds {
    double interval = 0.0;  ///< the run's time over its batches, of which the last may have fewer inferences
    double latency = 0.0;   ///< from first byte in to last byte out, mean
    double largest = 0.0;   ///< of these latencies
    double first = 0.0;     ///< of the first batch
    double alone = 0.0;     ///< of one batch alone, or, if the run did not find out, `latency`
    /// Of a full batch with others behind it and none before it; and from the end of a full batch to that of
    /// the next, while the pipeline is full. Both are `alone` where it is not known how batches overlap: of a
    /// run of less than a batch, or without requests that arrive and with fewer than
    /// run::BatchLatency::enough.
    double followed = 0.0;
    double full_interval = 0.0;
};

/// Requests that arrive at random and are computed in batches (sim/view/arrivals/serve.h).
struct RequestLatencies {
    double per_second = 0.0;  ///< 0: the run names no rate
    // Of batches, with the host's time, where it is in the chip's figures.
    double interval_seconds = 0.0;  ///< by which full ones follow each other
    double alone_seconds = 0.0;     ///< latency of one that has the chip to itself
    double latency_seconds = 0.0;   ///< of one with another behind it
    double host_percent = 0.0;      ///< that time, of the chip's; 0: it is not in them
    double capacity = 0.0;          ///< requests a second of full batches
    /// Absent where there is no rate, or one that is not below the capacity.
    std::optional<double> p50_seconds = {};
    std::optional<double> p99_seconds = {};
    std::optional<double> mean_batch = {};
    double limit_seconds = 0.0;  ///< 0: none
    /// At which 99 of 100 requests are within the limit: the least of several random streams, and the
    /// largest.
    std::optional<double> most_per_second = {};
    std::optional<double> most_per_second_high = {};
    bool reaches_capacity = false;  ///< the limit leaves all of the capacity, to one thousandth

    static constexpr unsigned streams = 3;
};

struct Report {
    /// Those that the list of figures computes (sim/view/report/figures.h), by their path in report.json.
    std::vector<std::pair<std::string_view, nlohmann::ordered_json>> figures;
    /// The value of one of them; null if there is none.
    nlohmann::ordered_json figure(std::string_view path) const;

    std::string machine;
    /// A setting of the run that changes the machine file: key and value.
    std::vector<std::pair<std::string, std::string>> machine_settings;
    std::string model;
    std::uint32_t batch = 0;
    std::uint64_t inferences = 0;
    std::uint64_t batches = 0;
    std::optional<Batching> batching;  ///< absent for a program

    std::uint64_t cycles = 0;
    double clock_mhz = 0.0;
    double seconds = 0.0;
    std::optional<double> inferences_per_second;
    std::optional<BatchSeconds> latency;  ///< absent where the program does not state its batches
    std::optional<double> achieved_tops;
    double peak_tops = 0.0;
    std::optional<double> peak_share;  ///< achieved of peak
    std::optional<Roofline> roofline;

    machine::UnitDescription main;  ///< the unit whose cycles are divided
    MainUnit main_unit;             ///< of the run
    /// What the main unit's counters mean, by group and name.
    std::vector<std::pair<std::string, std::string>> meanings;
    FamilyParts parts;
    Bounds bounds;
    std::uint64_t array_cells = 0;  ///< multiply-accumulates of a cycle
    std::vector<Layer> layers;
    std::optional<Explanations> explanations;        ///< where the run asked for them
    std::vector<InstructionKind> instruction_kinds;  ///< their cycles sum to those of the run
    std::vector<Traffic> traffic;
    std::vector<machine::UnitDescription> units_drawn;  ///< with their boxes, where they have one
    std::vector<Path> paths;                            ///< to and from the chip, and on the chip
    std::vector<run::PixelScaling> pixel_scaling;       ///< inputs whose pixels the network scales itself
    std::optional<machine::CutImages> cut_images;       ///< absent where an image fits the unified buffer
    std::uint64_t spilled_weight_bytes = 0;             ///< that stay in host memory
    std::optional<MemoryOverTime> memory_over_time;     ///< where the run noted its occupancy
    std::vector<MemoryMap> memory_maps;                 ///< where the run noted its occupancy
    std::uint64_t instructions = 0;
    std::vector<std::pair<std::string, CounterValues>> units;  ///< every counter of every unit

    std::optional<Energy> energy;
    std::optional<std::string> no_energy;      ///< why it is absent
    std::optional<area::Area> area;            ///< absent where the machine does not say its process
    HostTime host_time;                        ///< in the comparison
    std::optional<RequestLatencies> requests;  ///< where the run asks for them
    std::vector<Comparison> comparison;
    std::optional<Claim> claim;           ///< absent where there is no comparison
    std::optional<Call> call;             ///< absent of machines that are not called batch by batch
    std::optional<HostShare> host_share;  ///< absent where the chip does all multiply-accumulates
    LeftOut left_out;
    std::vector<HostOperation> host_operations;
    std::optional<double> host_seconds;  ///< of all of them
    std::string host;                    ///< the baseline that does them; empty where the run names none
    std::string host_known_of;           ///< see baselines::Efficiency::known_of
    bool host_at_least = false;          ///< their time is a lower bound: the baseline has no efficiency

    bool timing_only = false;
    std::vector<std::uint32_t> predictions;
    std::vector<float> first_probabilities;      ///< of the first predictions
    std::vector<run::BestClasses> best_classes;  ///< of the first inferences, where classes have names
    bool are_probabilities = false;              ///< the scores of these
    run::Pictures pictures;                      ///< none where the run chose none
    std::optional<double> accuracy;
    std::optional<double> float_accuracy;
    std::optional<std::uint64_t> float_agreements;
    std::vector<run::LayerAccuracy> layer_accuracy;  ///< if the run requests it

    std::vector<InstructionLine> instruction_lines;  ///< if the run requests them
    run::RegisterDump registers;                     ///< of the cycles that the run requests
    std::vector<run::BufferContents> buffers;        ///< those that the run requests
    std::vector<std::string> unfilled_buffers;       ///< input buffers that nothing filled

    Simulator simulator;
    nlohmann::ordered_json configuration;  ///< the effective one: run, machine, baselines
};

/// Absent if the run did not request it.
std::optional<energy::PowerOverTime> power_over_time(const run::RunRecord& record);
/// Why a run on this machine has no energy: the machine has neither a section `energy` nor published watts,
/// or its clock needs a voltage beyond the limits. Absent if it has.
std::optional<std::string> no_energy_reason(const machine::MachineConfig& machine);
/// Absent where there is a reason.
std::optional<Energy> make_energy(const run::RunRecord& record, double seconds);
/// How static power and the energy of an event follow the machine, or that they do not: sentences for a
/// machine whose die or clock differs from that of the chip whose watts it has. A machine that does not say
/// which chip that is (`power`) is compared with its file: `settings` are the keys that the run changed.
std::vector<std::string> energy_notes(const machine::MachineConfig& machine,
                                      std::span<const machine::UnitDescription> units,
                                      std::span<const std::string> settings);
/// The energy of one tag; `cycles` are the main unit's cycles under it. Absent without a section `energy`.
std::optional<energy::Joules> energy_under(const run::RunRecord& record, run::Tag tag, std::uint64_t cycles);

/// The main unit's cycles under one tag.
MainUnit main_unit_under(const machine::UnitDescription& main, const run::Counters& counters, run::Tag tag);

/// The cycles by kind of the main unit's instructions: all cycles of a tag count for the kind that the
/// program uses under it.
std::vector<InstructionKind> by_instruction_kind(std::span<const run::TagFacts> tags,
                                                 const machine::UnitDescription& main,
                                                 const run::Counters& counters);

/// The paths between units, in the order in which these describe them.
std::vector<Path> make_paths(const run::RunRecord& record);
/// The paths that a report lists as traffic.
std::vector<Traffic> traffic_of(const std::vector<Path>& paths);

/// The run must have recorded its occupancy.
MemoryOverTime make_memory_over_time(const run::RunRecord& record);
/// The same, of the memories that have one.
std::vector<MemoryMap> make_memory_maps(const run::RunRecord& record);

/// The cycles of each layer by class. Of many layers it lists the main ones (main_layers.h), unless all are
/// wanted.
std::string layer_table(const Report& report, const terminal::Look& look = {}, bool all_layers = false);

/// Energy by unit, if the machine says what an event takes, and power. `json` is the same as report.json.
std::string energy_text(const Report& report, const nlohmann::ordered_json& json,
                        const terminal::Look& look = {});

/// Whether the run asks for requests that arrive at random.
bool asks_for_requests(const run::RunRecord& record);
/// Absent where the run asks for none. `batch` has the chip's times, without its host.
std::optional<RequestLatencies> make_requests(const run::RunRecord& record, const BatchSeconds& batch);
nlohmann::ordered_json requests_json(const std::optional<RequestLatencies>& requests);
/// Latencies of requests, and how many there may be.
std::string requests_text(const RequestLatencies& requests, const terminal::Look& look = {});

/// The area of the die by unit, with its error bar.
std::string area_text(const Report& report, const terminal::Look& look = {});

/// A line for each instruction, with its text at the end. The text is never cut; on a terminal it is wrapped.
std::string instruction_table(std::span<const InstructionLine> lines, const terminal::Look& look = {});

/// A line of any length for each cycle, with the registers of all cells side by side, row by row. On a
/// terminal the table has the cells that fit, and further tables have the others.
std::string register_table(const run::RegisterDump& dump, const terminal::Look& look = {});

/// A title and the values; each line begins with the index of its first value.
std::string buffer_text(const run::BufferContents& buffer, const terminal::Look& look = {});
/// How far each layer's numbers are from those of the network in float.
std::string accuracy_text(const Report& report, const terminal::Look& look = {});

/// Says in whose figures the host's time is: "host time is in both sides: ...".
std::string host_time_text(const HostTime& host);
/// "13,000 to 48,000": the ends of a figure's band, each as `show` prints it; empty without a band.
std::string band_text(double value, const std::optional<baselines::Band>& band,
                      std::string (*show)(std::optional<double> value));

/// From the report's comparison and main unit; absent for a family that no claim is about.
std::optional<Claim> make_claim(const Report& report);
/// A line for each baseline and, if the run falls short against one, the shares of the array's cycles.
std::string claim_text(const Claim& claim, const terminal::Look& look = {});
nlohmann::ordered_json claim_json(const std::optional<Claim>& claim);

/// The report has its latency, its energy and its comparison.
Call make_call(const Report& report, const run::RunRecord& record);
nlohmann::ordered_json call_json(const Call& call, std::string_view model);
/// A line and a sentence for each baseline; the report has a call.
std::string call_text(const Report& report, const terminal::Look& look = {});

/// Computes the report from the record of a run.
Report make_report(const run::RunRecord& record);

/// report.json: the keys of "sim.report/1".
nlohmann::ordered_json to_json(const Report& report);

/// The parts of the text, in their order: "summary", "matrix_unit", "layers", ... Each main unit has one.
std::vector<std::string_view> section_names();

/// Text with the named sections, in the order of section_names, or with all of them. Of many layers it lists
/// the main ones (main_layers.h), unless all are wanted.
std::string to_text(const Report& report, std::span<const std::string> sections = {},
                    const terminal::Look& look = {}, bool all_layers = false);

}  // namespace systole::report

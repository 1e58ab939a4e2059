#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/run/record/record.h"
#include "sim/view/energy/run_energy.h"
#include "sim/view/report/explanations.h"
#include "sim/view/report/family.h"
#include "sim/view/report/report.h"

/// The sections of report.json. Each figure is computed once, where its key is written; what is read from a
/// report is read from this JSON.
namespace systole::report {

/// What several sections need of a run.
struct Basis {
    explicit Basis(const run::RunRecord& of_run);

    const run::RunRecord& record;
    const machine::MachineConfig& machine;
    const machine::UnitDescription& main;           ///< the unit whose cycles are divided
    const FamilyParts parts;                        ///< that the family of the machine has
    const double seconds;                           ///< of the run
    const std::uint64_t batches;                    ///< 0 of a program that does not state them
    const std::optional<baselines::Baseline> host;  ///< that does the host's work, if the run names it
    const Json host_share;  ///< multiply-accumulates of layers that run on the host; null if there are none
    const std::string no_speed;  ///< why the run has no figure that says how fast the chip is; else empty
    const std::optional<double> inferences_per_second;
    const std::optional<BatchSeconds> latency;  ///< absent where the program does not state its batches
};

/// Absent if the denominator is 0.
std::optional<double> ratio(double numerator, double denominator);
std::optional<double> ratio(std::uint64_t numerator, std::uint64_t denominator);

double seconds_of(Cycle cycles, const machine::MachineConfig& machine);

/// The point of multiply-accumulates and weight bytes on the machine's roofline.
Json roofline_json(const machine::MachineConfig& machine, std::uint64_t macs, std::uint64_t fetched_bytes);
/// The bytes of weights that came for the main unit, in the run or under one tag.
std::uint64_t weight_bytes(const run::RunRecord& record, std::optional<run::Tag> tag);
/// 10^12 operations a second, of which a multiply-accumulate counts two.
std::optional<double> tops(std::uint64_t macs, double seconds);

/// The bounds of the run: lower ones of its cycles, and two figures that judge the compiler by them.
Json bounds_json(const Basis& basis);
/// One entry for each layer of the network, whether cycles fell to it or not, then the other tags with
/// cycles, bounds or energy. The layers' cycles sum to those of the run.
Json layers_json(const Basis& basis, const Explanations* explanations);
Json instruction_kinds_json(const Basis& basis);

/// The paths between units, in the order in which these describe them.
std::vector<machine::DataPath> paths_of(const run::RunRecord& record);
/// What moved over each path between two units.
Json paths_json(const run::RunRecord& record);
/// The paths of a report that count as traffic.
Json traffic_json(const run::RunRecord& record, const Json& paths);
/// How the page draws the machine; its paths move what `paths` says.
Json drawing_json(const run::RunRecord& record);

/// The times of each instruction, and the registers that the run names.
Json instruction_times_json(std::span<const run::InstructionLine> lines);
Json registers_json(const run::RegisterDump& dump);
/// Cores whose instructions have the same times. Those of the first group are elsewhere in the report.
Json cores_alike_json(const run::RunRecord& record);

/// How full the memories are, at most and over time.
Json memory_json(const Basis& basis);
/// How full those of a core are over time, with maps of their values.
Json occupancy_json(const run::RunRecord& record, const run::Occupancy& occupancy);

/// How long the steps of a training take, and what came of those that were computed; the record has one.
Json training_json(const Basis& basis);

/// What a further step costs; the record has one.
Json step_json(const Basis& basis);

Json energy_json(const Basis& basis);
/// Why a run on this machine has no energy: the machine has neither a section `energy` nor published watts,
/// or its clock needs a voltage beyond the limits. Absent if it has.
std::optional<std::string> no_energy_reason(const machine::MachineConfig& machine);
/// How static power and the energy of an event follow the machine, or that they do not: sentences for a
/// machine whose die or clock differs from that of the chip whose watts it has. A machine that does not say
/// which chip that is (`power`) is compared with its file: `settings` are the keys that the run changed.
std::vector<std::string> energy_notes(const machine::MachineConfig& machine,
                                      std::span<const machine::UnitDescription> units,
                                      std::span<const std::string> settings);
/// The energy of one tag; `cycles` are the main unit's cycles under it. Absent without energy of events.
std::optional<energy::Joules> energy_under(const run::RunRecord& record, run::Tag tag, std::uint64_t cycles);
Json area_json(const run::RunRecord& record);

/// Whether the run asks for requests that arrive at random.
bool asks_for_requests(const run::RunRecord& record);
/// Null where the run asks for none. `batch` has the chip's times, without its host.
Json requests_json(const run::RunRecord& record, const BatchSeconds& batch);

/// How long the chip waits for the host that makes its input; null where the run has none, or no time of a
/// batch.
Json feeding_json(const Basis& basis);

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

/// Says in whose figures the host's time is: "host time is in both sides: ...".
std::string host_time_text(const HostTime& host);

/// The host's time in the comparison, and the comparison with each baseline.
std::pair<Json, Json> comparison_json(const Basis& basis);
/// From the comparison, cycles and matrix unit of a report, and the host's time in it; null where nothing is
/// compared. `cells` are the multiply-accumulates of a cycle.
Json claim_json(const Json& report, std::uint64_t cells);

/// What a call of the host takes, on a machine that computes a batch in each call: the report has its energy
/// and its comparison. The first call also brings the parameters that stay in the memory.
Json call_json(const Basis& basis, const Json& report);

/// The multiply-accumulates of layers that run on the host, not on the chip; null if there are none.
Json host_share_json(const run::RunRecord& record);
/// Work of the host: on inputs and outputs, beside the run's time, or a segment of the network, in it.
Json host_operations_json(const run::RunRecord& record);
/// What is shown of a segment: its name, or its layers if it has that of the first of them.
std::string segment_text(const Json& operation);
/// Segments of the host whose layers have names that are equal up to numbers, as one each, with their
/// `count`; empty if there are few segments, or none such. `operations` are those of a report.
Json repeated_host_work_json(const Json& operations);
/// Why the run has no figure that says how fast the chip is; empty where it has. Of a run whose work is the
/// host's, these would be figures of the host.
std::string why_no_speed(const run::RunRecord& record, const Json& host_share);

}  // namespace systole::report

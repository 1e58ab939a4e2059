#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/record/record.h"
#include "sim/study/validate/published.h"

/// Runs of the workloads on the machine and on others, and the quantities of their records that are compared
/// with published ones.
namespace systole::validate {

/// Runs specs and returns their records, with phases, in the order of the specs. Tests pass functions with
/// made-up results.
using Simulate = std::function<std::vector<run::RunRecord>(std::span<const run::RunSpec>)>;

/// Simulates on all cores, in worker processes; equal specs once. The function throws std::runtime_error if a
/// spec cannot be simulated.
Simulate make_simulate();

/// One batch of a network, without values; the machine is still to be set.
run::RunSpec batch_of(const run::Content& network, std::uint32_t batch, const run::Mapping& mapping = {});
run::RunSpec with_machine(run::RunSpec spec, const machine::MachineConfig& machine);

/// A network, as a file describes it, of one layer with a square matrix.
nlohmann::json square_matrix(std::uint32_t width);

/// The network, as its file describes it, with 8-bit activations in all layers.
nlohmann::json with_8_bit_activations(nlohmann::json network);

/// The workloads, of which the LSTMs have 8-bit activations; `made` gets their files.
ByWorkload<run::RunSpec> with_8_bit_lstms(ByWorkload<run::RunSpec> workloads, const run::ScratchFolder& made);

/// The workloads on one machine.
ByWorkload<run::RunRecord> run_all(const ByWorkload<run::RunSpec>& workloads,
                                   const machine::MachineConfig& machine, const Simulate& simulate);

/// Cycles in which the chip only waits for its first input or only sends its last output.
Cycle host_only_cycles(const run::RunRecord& record);
double inferences_per_second(const run::RunRecord& record);
/// Of the one batch, from its first byte in to its last byte out.
double latency_seconds(const run::RunRecord& record);
/// 10^12 operations per second; a multiply-accumulate that the network asks for counts as two.
double tera_ops(const run::RunRecord& record);
/// Multiply-accumulates of the batch for each byte of the weight tiles' used cells; each tile counts once.
double macs_per_weight_byte(const run::RunRecord& record);
/// Row 2 of Table 3: useful multiply-accumulates, of all that the cells could do. A fraction. A 16-bit
/// multiply-accumulate takes several cell cycles and counts in each.
double useful_share(const run::RunRecord& record);
/// Cycles in which data was on the host's link, % of all; those of both directions are added.
double link_percent(const run::RunRecord& record);
/// Cycles in which the array waits for the weights of dense layers, % of all.
double dense_wait_percent(const run::RunRecord& record);
/// The most of the unified buffer that held data, in MiB.
double buffer_mebibytes(const run::RunRecord& record);
/// From the first byte of the weights to the last.
double fetch_microseconds(const run::RunRecord& record);
/// Multiply-accumulates for each weight byte above which the array, not the memory, is the limit.
double ridge_macs_per_byte(const machine::MachineConfig& machine);
/// Row of Table 3 by index into table_3_rows: per cent of cycles, or 10^12 operations per second.
ByWorkload<double> table_3_values(std::size_t row, const ByWorkload<run::RunRecord>& records);

/// `quantity(record)` of each record.
template <class Quantity>
ByWorkload<double> of_each(const ByWorkload<run::RunRecord>& records, const Quantity& quantity) {
    return by_workload([&](std::size_t i) { return static_cast<double>(quantity(records[i])); });
}

/// Watts that grow evenly with the load.
struct Watts {
    double idle = 0.0;
    double busy = 0.0;

    double at(double load) const { return idle + load * (busy - idle); }
    double share_at(double load) const { return at(load) / busy; }
};
/// Watts of the die: static, and static with dynamic. 0 if the machine has no section `energy`.
Watts die_watts(const run::RunRecord& record);

/// Performance of one machine over another's, without the host's time.
ByWorkload<double> speedup(const ByWorkload<run::RunRecord>& faster, const ByWorkload<run::RunRecord>& than);

/// The machine with one of Figure 11's parameters scaled: the bandwidth of the memory; the clock, alone or
/// with the accumulators (times in seconds stay: memory, host, latencies in ns); the rows and columns of the
/// array, alone or with the accumulators by the square of the scale (the bytes of the unified buffer stay).
/// Accumulators are counted as in the article: in rows, each as wide as the array.
/// Throws ConfigError if the result is no machine.
machine::MachineConfig scaled(machine::MachineConfig machine, Curve curve, double scale);

/// By curve and scale: performance over that of the machine as it is, without the host's time.
using Sensitivity = std::array<std::array<ByWorkload<double>, scales.size()>, curve_names.size()>;
Sensitivity sensitivity(const ByWorkload<run::RunSpec>& workloads, const machine::MachineConfig& machine,
                        const Simulate& simulate);

}  // namespace systole::validate

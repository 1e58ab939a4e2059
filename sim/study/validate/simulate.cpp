#include "sim/study/validate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/execute/executor.h"
#include "sim/view/energy/run_energy.h"

namespace systole::validate {
namespace {

std::uint32_t times(std::uint32_t count, double factor, const char* what) {
    const double product = count * factor;
    if (product != std::floor(product) || product < 1.0 || product > 4294967295.0) {
        throw machine::ConfigError(
            fmt::format("{} is {}; {} times as many is no whole number of them", what, count, factor));
    }
    return static_cast<std::uint32_t>(product);
}

void scale_array(machine::MachineConfig& machine, double scale) {
    machine::MatrixUnitConfig& array = machine.matrix_unit;
    array.rows = times(array.rows, scale, "matrix_unit.rows");
    array.columns = times(array.columns, scale, "matrix_unit.columns");
    // Its rows are as wide as the array.
    machine.unified_buffer.rows = times(machine.unified_buffer.rows, 1.0 / scale, "unified_buffer.rows");
}

void scale_accumulators(machine::MachineConfig& machine, double scale) {
    machine.accumulators.rows = times(machine.accumulators.rows, scale, "accumulators.rows");
}

double batch_macs(const run::RunRecord& record) {
    return static_cast<double>(record.network.value().macs() * record.program.inferences);
}

/// Without the host's time.
double device_seconds(const run::RunRecord& record) {
    const Cycle cycles = record.cycles - host_only_cycles(record);
    return static_cast<double>(cycles) / static_cast<double>(record.spec.machine.clock_hz());
}

}  // namespace

Simulate make_simulate() {
    return [executor = std::make_shared<run::Executor>()](std::span<const run::RunSpec> specs) {
        std::vector<run::RunRecord> records;
        for (run::RunOutcome& outcome : executor->run(specs)) {
            if (!outcome.record) throw std::runtime_error(outcome.error);
            records.push_back(std::move(*outcome.record));
        }
        return records;
    };
}

run::RunSpec batch_of(const run::Content& network, std::uint32_t batch, const run::Mapping& mapping) {
    run::RunSpec spec;
    spec.network = network;
    spec.compiler = {.batch = batch, .limit = batch, .mapping = mapping};
    spec.timing_only = true;
    spec.observed.phases = true;
    return spec;
}

run::RunSpec with_machine(run::RunSpec spec, const machine::MachineConfig& machine) {
    spec.machine = machine;
    return spec;
}

nlohmann::json square_matrix(std::uint32_t width) {
    return {{"schema", "sim.graph/1"},
            {"name", "tiling"},
            {"input", {{"shape", {width}}}},
            {"weights", {{"seed", 1}}},
            {"layers", {{{"name", "matrix"}, {"op", "dense"}, {"inputs", {"input"}}, {"units", width}}}},
            {"output", "matrix"}};
}

nlohmann::json with_8_bit_activations(nlohmann::json network) {
    constexpr const char* bits = "activation_bits";
    network[bits] = 8;
    for (nlohmann::json& layer : network.at("layers")) {
        if (layer.contains(bits)) layer[bits] = 8;
    }
    return network;
}

ByWorkload<run::RunSpec> with_8_bit_lstms(ByWorkload<run::RunSpec> workloads,
                                          const run::ScratchFolder& made) {
    for (const std::size_t i : {LSTM0, LSTM1}) {
        const nlohmann::json network =
            with_8_bit_activations(machine::read_json_object(workloads[i].network.value().path.text));
        workloads[i].network = made.add(network.at("name").get<std::string>() + ".json", network.dump());
    }
    return workloads;
}

ByWorkload<run::RunRecord> run_all(const ByWorkload<run::RunSpec>& workloads,
                                   const machine::MachineConfig& machine, const Simulate& simulate) {
    std::vector<run::RunRecord> records =
        simulate(by_workload([&](std::size_t i) { return with_machine(workloads[i], machine); }));
    return by_workload([&](std::size_t i) { return std::move(records.at(i)); });
}

Cycle host_only_cycles(const run::RunRecord& record) {
    const run::Phases& phases = record.phases.value();
    return phases.head + record.cycles - std::min(record.cycles, phases.last_result);
}

double inferences_per_second(const run::RunRecord& record) {
    return record.program.batch / record.seconds();
}

double latency_seconds(const run::RunRecord& record) {
    return static_cast<double>(record.latency.value().sum) /
           static_cast<double>(record.spec.machine.clock_hz());
}

double tera_ops(const run::RunRecord& record) {
    return 2.0 * batch_macs(record) / record.seconds() / 1e12;
}

double macs_per_weight_byte(const run::RunRecord& record) {
    return batch_macs(record) / static_cast<double>(record.program.tile_bytes);
}

double useful_share(const run::RunRecord& record) {
    return record.share_of_cells(table_3_rows[useful_row].counter);
}

double link_percent(const run::RunRecord& record) {
    return 100.0 * (record.share_of_cycles("host_read.busy_cycles") +
                    record.share_of_cycles("host_write.busy_cycles"));
}

double dense_wait_percent(const run::RunRecord& record) {
    const run::ProgramFacts& program = record.program;
    double waits = 0.0;
    for (std::size_t tag = 0; tag < program.tags.size(); ++tag) {
        const auto is_dense = [&](const run::LayerFacts& layer) {
            return layer.kind == "dense" && layer.name == program.tags[tag].name;
        };
        if (std::ranges::none_of(program.layers, is_dense)) continue;
        for (const char* const counter :
             {"matrix_unit.weight_stall_cycles", "matrix_unit.weight_shift_cycles"}) {
            waits += static_cast<double>(record.counters.at(counter).value(static_cast<run::Tag>(tag)));
        }
    }
    return 100.0 * waits / static_cast<double>(record.cycles);
}

double buffer_mebibytes(const run::RunRecord& record) {
    return static_cast<double>(record.unified_buffer_peak_bytes) / 1048576.0;
}

double fetch_microseconds(const run::RunRecord& record) {
    const run::Phases& phases = record.phases.value();
    const Cycle fetch = phases.last_tile - phases.first_fetch.value_or(phases.last_tile);
    return 1e6 * static_cast<double>(fetch) / static_cast<double>(record.spec.machine.clock_hz());
}

double ridge_macs_per_byte(const machine::MachineConfig& machine) {
    return machine.peak_ops_per_second() / 2.0 / (machine.weight_memory.bandwidth_gb_per_s * 1e9);
}

ByWorkload<double> table_3_values(std::size_t row, const ByWorkload<run::RunRecord>& records) {
    const std::string_view counter = table_3_rows.at(row).counter;
    if (counter.empty()) return of_each(records, tera_ops);
    const bool counts_cells = counter.ends_with("_macs");
    return of_each(records, [&](const run::RunRecord& record) {
        return 100.0 * (counts_cells ? record.share_of_cells(counter) : record.share_of_cycles(counter));
    });
}

Watts die_watts(const run::RunRecord& record) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (!machine.energy) return {};
    const energy::Joules joules = energy::joules_of_run(record, machine);
    return {.idle = joules[energy::Consumer::ChipStatic] / record.seconds(),
            .busy = joules.on_die() / record.seconds()};
}

ByWorkload<double> speedup(const ByWorkload<run::RunRecord>& faster, const ByWorkload<run::RunRecord>& than) {
    return by_workload([&](std::size_t i) { return device_seconds(than[i]) / device_seconds(faster[i]); });
}

machine::MachineConfig scaled(machine::MachineConfig machine, Curve curve, double scale) {
    switch (curve) {
        case Memory:
            machine.weight_memory.bandwidth_gb_per_s *= scale;
            return machine;
        case Clock:
            machine.clock_mhz *= scale;
            return machine;
        case ClockPlus:
            machine.clock_mhz *= scale;
            scale_accumulators(machine, scale);
            return machine;
        case Matrix:
            scale_array(machine, scale);
            return machine;
        case MatrixPlus:
            scale_array(machine, scale);
            scale_accumulators(machine, scale * scale);
            return machine;
    }
    throw std::logic_error("a curve that does not exist");
}

Sensitivity sensitivity(const ByWorkload<run::RunSpec>& workloads, const machine::MachineConfig& machine,
                        const Simulate& simulate) {
    const ByWorkload<run::RunRecord> base = run_all(workloads, machine, simulate);
    Sensitivity performance;
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        for (std::size_t i = 0; i < scales.size(); ++i) {
            const machine::MachineConfig other = scaled(machine, static_cast<Curve>(curve), scales[i]);
            performance[curve][i] = speedup(run_all(workloads, other, simulate), base);
        }
    }
    return performance;
}

}  // namespace systole::validate

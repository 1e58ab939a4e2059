#include "sim/study/validate/records.h"

#include <algorithm>

#include "sim/view/energy/run_energy.h"

namespace systole::validate {
namespace {

double clock_hz(const run::RunRecord& record) {
    return static_cast<double>(record.spec.machine.clock_hz());
}

double batch_macs(const run::RunRecord& record) {
    return static_cast<double>(record.network.value().macs() * record.program.inferences);
}

/// A counter of cell cycles, as a share of all cell cycles.
double share_of_cells(const run::RunRecord& record, std::string_view counter) {
    const auto counted = static_cast<double>(record.counters.at(counter).value());
    return counted / static_cast<double>(record.spec.machine.tile_bytes()) /
           static_cast<double>(record.cycles);
}

}  // namespace

double seconds(const run::RunRecord& record) {
    return static_cast<double>(record.cycles) / clock_hz(record);
}

Cycle host_only_cycles(const run::RunRecord& record) {
    const run::Phases& phases = record.phases.value();
    return phases.head + record.cycles - std::min(record.cycles, phases.last_result);
}

double device_seconds(const run::RunRecord& record) {
    return static_cast<double>(record.cycles - host_only_cycles(record)) / clock_hz(record);
}

double inferences_per_second(const run::RunRecord& record) {
    return record.program.batch / seconds(record);
}

double tera_ops(const run::RunRecord& record) {
    return 2.0 * batch_macs(record) / seconds(record) / 1e12;
}

double macs_per_weight_byte(const run::RunRecord& record) {
    return batch_macs(record) / static_cast<double>(record.program.tile_bytes);
}

double share_of_cycles(const run::RunRecord& record, std::string_view counter) {
    return static_cast<double>(record.counters.at(counter).value()) / static_cast<double>(record.cycles);
}

double useful_share(const run::RunRecord& record) {
    return share_of_cells(record, "matrix_unit.useful_macs");
}

ByWorkload<double> table_3_values(std::size_t row, const ByWorkload<run::RunRecord>& records) {
    const std::string_view counter = table_3_rows.at(row).counter;
    if (counter.empty()) return of_each(records, tera_ops);
    const bool counts_cells = counter.ends_with("_macs");
    return of_each(records, [&](const run::RunRecord& record) {
        return 100.0 * (counts_cells ? share_of_cells(record, counter) : share_of_cycles(record, counter));
    });
}

Watts die_watts(const run::RunRecord& record) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (!machine.energy) return {};
    const energy::Joules joules =
        energy::joules(energy::events(record.counters, machine), machine, record.cycles);
    return {.idle = joules[energy::Consumer::ChipStatic] / seconds(record),
            .busy = joules.on_die() / seconds(record)};
}

}  // namespace systole::validate

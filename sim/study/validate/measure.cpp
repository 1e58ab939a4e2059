#include "sim/study/validate/measure.h"

#include <algorithm>
#include <string_view>

#include "sim/view/energy/run_energy.h"

namespace systole::validate {

Measurement measurement_of(const run::RunRecord& record) {
    const machine::MachineConfig& machine = record.spec.machine;
    const auto counted = [&](std::string_view counter) { return record.counters.at(counter).value(); };
    Measurement result;
    result.clock_hz = static_cast<double>(machine.clock_hz());
    result.cells = static_cast<double>(machine.tile_bytes());
    result.batch = record.program.batch;
    result.macs = record.network.value().macs() * record.program.inferences;
    result.weight_bytes = record.program.tile_bytes;
    result.cycles = record.cycles;
    result.active_cycles = counted("matrix_unit.active_cycles");
    result.weight_stall_cycles = counted("matrix_unit.weight_stall_cycles");
    result.weight_shift_cycles = counted("matrix_unit.weight_shift_cycles");
    result.non_matrix_cycles = counted("matrix_unit.non_matrix_cycles");
    result.raw_stall_cycles = counted("matrix_unit.raw_stall_cycles");
    result.input_stall_cycles = counted("matrix_unit.input_stall_cycles");
    result.useful_macs = counted("matrix_unit.useful_macs");
    result.unused_macs = counted("matrix_unit.unused_macs");
    result.tiles = counted("matrix_unit.tiles");
    result.unified_buffer_peak_bytes = record.unified_buffer_peak_bytes;
    result.host_read_bytes = counted("host_interface.read_bytes");
    result.host_write_bytes = counted("host_interface.write_bytes");
    result.host_busy_cycles = counted("host_read.busy_cycles") + counted("host_write.busy_cycles");
    const run::Phases& phases = record.phases.value();
    result.head_cycles = phases.head;
    result.tail_cycles = record.cycles - std::min(record.cycles, phases.last_result);
    result.weight_fetch_cycles = phases.last_tile - phases.first_fetch.value_or(phases.last_tile);
    if (machine.energy) {
        const energy::Joules joules =
            energy::joules(energy::events(record.counters, machine), machine, record.cycles);
        result.static_watts = joules[energy::Consumer::ChipStatic] / result.seconds();
        result.dynamic_watts = joules.on_die() / result.seconds() - result.static_watts;
    }
    return result;
}

}  // namespace systole::validate

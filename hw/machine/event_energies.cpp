#include "hw/machine/event_energies.h"

#include <algorithm>

#include "hw/machine/published_energies.h"

namespace systole::machine {
namespace {

constexpr double word_bytes = 8.0;  // the published table is for 64 bits
constexpr double sum_bytes = 4.0;

/// A byte of a memory whose rows of `row_bytes` are read and written whole, a slice for each word.
double memory_byte(double bytes, double row_bytes, double process_nm) {
    const double slices = std::max(1.0, row_bytes / word_bytes);
    return sram_per_64_bits(bytes / slices, process_nm) / word_bytes;
}

}  // namespace

EventEnergies event_energies(const MachineConfig& machine) {
    const EnergyConfig& config = machine.energy.value();
    const double process = config.process_nm;
    const double rows = machine.matrix_unit.rows;
    const double columns = machine.matrix_unit.columns;

    const double add = config.int32_add_pj.value_or(int32_add.at(process));
    const double multiply = config.int32_multiply_pj.value_or(int32_multiply.at(process));
    const double buffer_byte = config.unified_buffer_pj_per_byte.value_or(
        memory_byte(static_cast<double>(machine.unified_buffer_bytes()), rows, process));
    const double sums_row_bytes = columns * sum_bytes;
    const double sums_byte = config.accumulators_pj_per_byte.value_or(
        memory_byte(machine.accumulators.rows * sums_row_bytes, sums_row_bytes, process));
    const double fifo_bytes = machine.weight_fifo.depth_tiles * rows * columns;
    // Instructions pass one by one, through one memory.
    const double instruction_byte = config.instruction_buffer_pj_per_byte.value_or(
        memory_byte(machine.sequencer.instruction_buffer_bytes, word_bytes, process));

    EventEnergies events;
    events.mac = config.mac_pj.value_or(int8_multiply.at(process) + add);
    events.unused_mac = config.unused_mac_fraction * events.mac;
    events.buffer_row = rows * buffer_byte;
    events.sums_row = sums_row_bytes * sums_byte;
    events.sums_add = columns * add;
    events.fifo_byte = config.weight_fifo_pj_per_byte.value_or(memory_byte(fifo_bytes, columns, process));
    events.weight_byte = config.weight_memory_pj_per_byte.value_or(ddr_per_64_bits / word_bytes);
    events.host_byte = config.host_link_pj_per_byte;
    events.instruction_byte = 2.0 * instruction_byte;
    events.requantized = multiply + 2.0 * add;
    events.lookup = sram_per_64_bits(0.0, process) / word_bytes;
    events.operand = multiply + add;
    events.pooled = add;
    return events;
}

TensorEventEnergies tensor_event_energies(const MachineConfig& machine) {
    const TensorEnergyConfig& config = machine.tensor_energy.value();
    const double process = config.process_nm;
    const auto row_bytes = static_cast<double>(machine.vector_row_bytes());
    const double words = static_cast<double>(machine.vector_unit.lanes) * machine.vector_unit.sublanes;
    const double operation = (fp32_add.at(process) + fp32_multiply.at(process)) / 2.0;

    TensorEventEnergies events;
    events.mac = config.mac_pj.value_or(bf16_multiply(process) + fp32_add.at(process));
    events.vector_operation = words * config.vector_operation_pj.value_or(operation);
    events.vector_memory_byte = config.vector_memory_pj_per_byte.value_or(
        memory_byte(machine.vector_memory.rows * row_bytes, row_bytes, process));
    events.hbm_byte = config.hbm_pj_per_byte.value_or(hbm_per_64_bits / word_bytes);
    events.host_byte = config.host_link_pj_per_byte;
    events.instruction_byte = 2.0 * config.instruction_buffer_pj_per_byte.value_or(memory_byte(
                                        machine.sequencer.instruction_buffer_bytes, word_bytes, process));
    return events;
}

}  // namespace systole::machine

#include "hw/timing/activation_unit.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "hw/isa/block.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/operands.h"
#include "hw/timing/matrix_unit.h"

namespace systole::timing {

using isa::Register;

namespace {

/// Writes for an accumulator row: each line of its block is one of up to `row_bytes` consecutive bytes at a
/// time, in which a mask leaves out what lies between the pixels or outside the image. A line that lies
/// outside as a whole takes its writes all the same.
std::uint64_t writes_of_row(const isa::Registers& registers, std::uint64_t element_bytes,
                            std::uint64_t row_bytes) {
    const std::uint64_t columns = registers[Register::ActivationColumns];
    const auto blocks = isa::block_geometry(registers);
    if (!blocks) return divide_up(columns * element_bytes, row_bytes);
    return blocks->height * kernel_row_fetches(blocks->width, columns / blocks->pixels() * element_bytes,
                                               registers[Register::ActivationPixelBytes], row_bytes);
}

}  // namespace

ActivationCost activation_cost(const isa::Activate& activate, const isa::Registers& registers,
                               const machine::MachineConfig& machine) {
    const std::uint64_t row_bytes = machine.matrix_unit.rows;
    const std::uint64_t columns = registers[Register::ActivationColumns];
    const bool looks_up = activate.looks_up();
    const std::uint64_t writes =
        activate.length == 0 ? 0 : writes_of_row(registers, bytes_of(activate.output), row_bytes);
    std::uint64_t loads = 0;
    if (activate.load_parameters) {
        loads = divide_up(isa::parameter_bytes(activate.multipliers) * columns, row_bytes);
        if (looks_up) loads += divide_up(isa::table_bytes(activate.output), row_bytes);
    }
    return {.cycles = loads + activate.length * writes,
            .loads = loads,
            .buffer_reads = loads,
            .buffer_writes = activate.length * writes,
            .accumulator_reads = activate.length,
            .elements = activate.length * columns,
            .lookups = looks_up ? activate.length * columns : 0};
}

ActivationCost activation_cost(const isa::Vector& vector, const isa::Registers& registers,
                               const machine::MachineConfig& machine) {
    const std::uint64_t row_bytes = machine.matrix_unit.rows;
    const std::uint64_t length = vector.length;
    ActivationCost cost;
    if (vector.is_pooling()) {
        const std::uint64_t channels = registers[Register::WindowChannels];
        const std::uint64_t width = registers[Register::WindowOutputWidth];
        const std::uint64_t fetches =
            kernel_row_fetches(width, registers[Register::WindowKernelWidth] * channels,
                               registers[Register::WindowStrideX] * channels, row_bytes);
        cost.buffer_reads = length * registers[Register::WindowKernelHeight] * fetches;
        cost.buffer_writes = length * divide_up(width * channels, row_bytes);
        cost.pooled_elements = length * width * registers[Register::WindowKernelHeight] *
                               registers[Register::WindowKernelWidth] * channels;
    } else {
        const std::uint64_t operands = vector.has_other() ? 2 : 1;
        cost.buffer_reads = length * operands;
        cost.buffer_writes = length;
        (vector.has_other() ? cost.operand_elements : cost.lookups) =
            length * operands * row_bytes / bytes_of(vector.elements);
        if (!vector.has_other()) {
            cost.loads = divide_up(isa::table_bytes(vector.elements), row_bytes);
            cost.buffer_reads += cost.loads;
        }
    }
    cost.cycles = std::max(cost.buffer_reads, cost.buffer_writes);
    return cost;
}

}  // namespace systole::timing

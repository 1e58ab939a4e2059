#include "hw/timing/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "base/arithmetic.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/window.h"

namespace systole::timing {

using isa::Register;

Cycle array_passes(const isa::MatrixFlags& flags, const machine::MatrixUnitConfig& array) {
    const auto passes = array.passes(flags.activations, flags.weights);
    if (!passes) throw std::logic_error("a product of number formats that the machine does not list");
    return *passes;
}

void check_formats(const isa::Program& program, const machine::MachineConfig& machine) {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    std::int32_t zero_point = 0;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const isa::Instruction& instruction = program.instructions[i];
        const auto* const set = std::get_if<isa::SetConfig>(&instruction);
        if (set != nullptr && set->reg == Register::MultiplyWeightZeroPoint) {
            zero_point = static_cast<std::int32_t>(set->value);
        }
        const isa::MatrixFlags* const flags = isa::matrix_flags(instruction);
        if (flags == nullptr) continue;
        auto refusal = array.refusal(flags->activations, flags->weights);
        if (!refusal) refusal = array.refusal_of_weight_zero_point(zero_point);
        if (refusal) {
            throw isa::ProgramError(
                fmt::format("instruction {} ({}): {}", i, isa::to_string(instruction), *refusal));
        }
    }
}

WindowPart window_part(const isa::Registers& registers, std::uint32_t repetition, std::uint32_t array_rows) {
    const std::uint64_t window = std::uint64_t{registers[Register::WindowKernelHeight]} *
                                 registers[Register::WindowKernelWidth] * registers[Register::WindowChannels];
    const std::uint64_t begin = (std::uint64_t{registers[Register::WindowTile]} + repetition) * array_rows;
    return {begin, begin < window ? std::min<std::uint64_t>(array_rows, window - begin) : 0};
}

std::uint64_t kernel_row_fetches(std::uint64_t windows, std::uint64_t window_bytes,
                                 std::uint64_t stride_bytes, std::uint64_t row_bytes) {
    const std::uint64_t together = divide_up((windows - 1) * stride_bytes + window_bytes, row_bytes);
    const std::uint64_t apart = windows * divide_up(window_bytes, row_bytes);
    return std::min(together, apart);
}

std::uint64_t line_fetches(const WindowGeometry& geometry, const WindowPart& part,
                           std::uint64_t element_bytes, std::uint64_t row_bytes) {
    const std::uint64_t kernel_row = std::uint64_t{geometry.kernel_width} * geometry.channels;
    const std::uint64_t stride_bytes = std::uint64_t{geometry.stride_x} * geometry.channels * element_bytes;
    std::uint64_t fetches = 0;
    const std::uint64_t end = part.begin + part.elements;
    for (std::uint64_t begin = part.begin; begin < end;) {
        const std::uint64_t row_end = std::min(end, (begin / kernel_row + 1) * kernel_row);
        fetches += kernel_row_fetches(geometry.output_width, (row_end - begin) * element_bytes, stride_bytes,
                                      row_bytes);
        begin = row_end;
    }
    return fetches;
}

StreamCost stream_cost(const isa::Instruction& instruction, const isa::Registers& registers,
                       std::uint32_t repetition, const machine::MachineConfig& machine) {
    const isa::MatrixFlags* const flags = isa::matrix_flags(instruction);
    if (flags == nullptr) throw std::logic_error("an instruction that streams nothing into the array");
    const std::uint64_t element_bytes = bytes_of(flags->activations);
    StreamCost cost;
    if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
        cost.shape.lines = multiply->length;
        cost.line_fetches = element_bytes;
    } else {
        const auto& convolve = std::get<isa::Convolve>(instruction);
        const std::uint64_t row_bytes = machine.matrix_unit.rows;
        const WindowGeometry geometry = isa::window_geometry(registers, row_bytes);
        cost.shape.lines = convolve.lines;
        cost.shape.line_rows = geometry.output_width;
        cost.line_fetches = line_fetches(
            geometry, window_part(registers, repetition, machine.matrix_unit.rows), element_bytes, row_bytes);
    }
    cost.shape.passes = array_passes(*flags, machine.matrix_unit);
    cost.line_fetch_cycles = divide_up(cost.line_fetches, machine.systolic_data_setup.fetches_per_cycle);
    // If the accesses of a line take no longer than its input, rows follow each other without a gap.
    cost.shape.line_cycles = std::max(cost.shape.line_rows * cost.shape.passes, cost.line_fetch_cycles);
    return cost;
}

std::uint64_t multiply_accumulates(const isa::BlockGeometry& blocks, std::uint64_t first_line,
                                   std::uint64_t lines, std::span<const std::uint32_t> macs) {
    // Pixels of the image at this place of their block, from left to right or from top to bottom.
    const auto inside = [](std::uint64_t place, std::uint64_t size, std::uint64_t output) {
        return place < output ? divide_up(output - place, size) : 0;
    };
    std::uint64_t sum = 0;
    for (std::uint64_t j = 0; j < blocks.height; ++j) {
        const std::uint64_t of_image = inside(j, blocks.height, blocks.output_height);
        const auto lines_before = [&](std::uint64_t line) {
            return line / blocks.down() * of_image + std::min(line % blocks.down(), of_image);
        };
        const std::uint64_t lines_inside = lines_before(first_line + lines) - lines_before(first_line);
        for (std::uint64_t i = 0; i < blocks.width; ++i) {
            sum += macs[j * blocks.width + i] * lines_inside * inside(i, blocks.width, blocks.output_width);
        }
    }
    return sum;
}

Cycle matrix_latency(const machine::MachineConfig& machine) {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    // The sum passes the stages of every array row; the last stage of columns is so far behind the first.
    const Cycle down = Cycle{array.rows / array.cells_per_stage} * array.mac_latency_cycles;
    const Cycle across = array.columns / array.cells_per_stage - 1;
    return array.setup_cycles + down + across + machine.accumulators.write_cycles;
}

Cycle stream_completion(const StreamShape& shape, Cycle matrix_latency) {
    return std::max(shape.input_span() - 1 + matrix_latency, shape.span());
}

Cycle full_array_cycles(std::uint64_t cell_cycles, const machine::MachineConfig& machine) {
    return divide_up(cell_cycles, machine.macs_a_cycle());
}

Cycle shift_cycles(const machine::MachineConfig& machine) {
    return machine.matrix_unit.rows;
}

}  // namespace systole::timing

#include "hw/systolic_data_setup/systolic_data_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "hw/common/order_checker.h"
#include "hw/isa/operands.h"
#include "hw/isa/queue.h"
#include "hw/isa/window.h"
#include "hw/math/window.h"

namespace systole::hw {

namespace {

std::uint64_t accumulator_row_of(const isa::Instruction& instruction) {
    const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction);
    return multiply != nullptr ? multiply->accumulator_row
                               : std::get<isa::Convolve>(instruction).accumulator_row;
}

std::uint32_t repetitions_of(const isa::Instruction& instruction) {
    const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction);
    return 1U + (multiply != nullptr ? multiply->repeat : std::get<isa::Convolve>(instruction).repeat);
}

}  // namespace

SystolicDataSetup::SystolicDataSetup(const sc_core::sc_module_name& name, const UnitContext& context,
                                     UnifiedBufferAccess& buffer, StreamSink& array)
    : QueuedUnit(name, isa::QueueId::Matrix,
                 {.track = "matrix unit",
                  .signals = "systolic_data_setup.",
                  .is_main = true,
                  .computes = true,
                  .tells_idle = true},
                 context),
      array_rows_(context.machine.matrix_unit.rows),
      buffer_(buffer),
      array_(array) {
    register_counters(counters_);
    register_details(std::string(basename()) + ".lines", line_counters_);
    start("systolic_data_setup", [this](const Command& command) { queue().complete(stream(command)); });
}

Cycle SystolicDataSetup::stream(const Command& command) {
    const isa::BoundInstruction& bound = command.bound;
    const isa::MatrixFlags& flags = *isa::matrix_flags(bound.instruction);
    const auto* const convolve = std::get_if<isa::Convolve>(&bound.instruction);
    Cycle complete = 0;
    const std::uint32_t repetitions = repetitions_of(bound.instruction);
    for (repetition_ = 0; repetition_ < repetitions; ++repetition_) {
        cost_ = timing::stream_cost(bound.instruction, *bound.registers, repetition_, context_.machine);
        const timing::StreamShape& shape = cost_.shape;
        complete = array_.enter(
            {.number = command.number,
             .tag = command.tag,
             .issued = command.issued,
             .lines = shape.lines,
             .line_rows = shape.line_rows,
             .passes = shape.passes,
             .line_cycles = shape.line_cycles,
             .accumulator_row = accumulator_row_of(bound.instruction),
             .repetition = repetition_,
             .accumulate = flags.accumulate || repetition_ > 0,
             .keep_weights = flags.keep_weights,
             .activations = flags.activations,
             .weights = flags.weights,
             .weight_zero_point = bound.registers->as_signed(isa::Register::MultiplyWeightZeroPoint),
             .needs = command.needs,
             .blocks = convolve != nullptr ? isa::block_geometry(*bound.registers) : std::nullopt,
             .first_line = convolve != nullptr ? convolve->first_line : std::uint64_t{0},
             .source = this});
        waited(counters_.array_cycles);
        counters_.spend(counters_.busy_cycles, context_.clock.now() + shape.span(), command.tag);
    }
    return complete;
}

StreamRows SystolicDataSetup::enter(std::uint32_t elements) {
    if (repetition_ == 0) begin();
    const Command& command = executing();
    counters_.rows.add(cost_.shape.rows(), command.tag);
    counters_.fetches.add(cost_.fetches(), command.tag);
    line_counters_.fetch_cycles.add(cost_.fetch_cycles(), command.tag);
    buffer_.count_reads(cost_.fetches(), command.tag);
    const isa::Registers& registers = *command.bound.registers;
    if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&command.bound.instruction)) {
        return context_.computes_values() ? rows_of(*multiply, registers) : StreamRows{};
    }
    const auto& convolve = std::get<isa::Convolve>(command.bound.instruction);
    const timing::WindowPart part = timing::window_part(registers, repetition_, array_rows_);
    if (elements > part.elements) {
        throw InstructionError(command.number,
                               fmt::format("its weight tile has {} rows, the window has {} elements left at "
                                           "element {}",
                                           elements, part.elements, part.begin));
    }
    return context_.computes_values() ? rows_of(convolve, registers, elements) : StreamRows{};
}

StreamRows SystolicDataSetup::rows_of(const isa::MatrixMultiply& multiply,
                                      const isa::Registers& registers) const {
    const std::uint64_t stride = registers[isa::Register::MultiplyRowStride];
    const std::uint64_t element_rows = bytes_of(multiply.flags.activations);
    const std::uint64_t first = multiply.unified_buffer_row + repetition_ * element_rows;
    const std::uint64_t count = (multiply.length - 1) * stride + element_rows;
    const RowBlock rows{buffer_.read(first, count), stride * buffer_.row_bytes()};
    return [rows](std::vector<std::uint8_t>&) { return rows; };
}

StreamRows SystolicDataSetup::rows_of(const isa::Convolve& convolve, const isa::Registers& registers,
                                      std::uint32_t elements) const {
    const isa::RowRange images = executing().bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer);
    // Lines are numbered from the first image on; the rows begin at the first image that is read.
    const auto geometry = isa::window_geometry(registers, buffer_.row_bytes());
    const std::uint64_t skipped = convolve.first_line / geometry.output_height;
    const std::uint8_t* tensor = buffer_.read(images.first, images.last - images.first);
    const math::WindowRange range{.begin = timing::window_part(registers, repetition_, array_rows_).begin,
                                  .count = elements,
                                  .first_line = convolve.first_line - skipped * geometry.output_height,
                                  .lines = convolve.lines};
    const std::size_t width = bytes_of(convolve.flags.activations);
    if (const auto view = math::contiguous_windows(tensor, geometry, range, width)) {
        return [rows = RowBlock{view->data, view->row_bytes}](std::vector<std::uint8_t>&) { return rows; };
    }
    const std::size_t row_bytes = elements * width;
    const std::size_t bytes = cost_.shape.rows() * row_bytes;
    const auto pad = static_cast<std::uint16_t>(registers[isa::Register::WindowPadValue]);
    return [=](std::vector<std::uint8_t>& windows) {
        if (windows.size() < bytes) windows.resize(bytes);
        math::gather_windows(tensor, geometry, range, pad, width, windows.data(), row_bytes);
        return RowBlock{windows.data(), row_bytes};
    };
}

}  // namespace systole::hw

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "hw/isa/program_error.h"
#include "hw/isa/requantization.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"
#include "hw/isa/window_geometry.h"
#include "hw/math/elementwise.h"
#include "hw/math/lookup_table.h"
#include "hw/math/pooling.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {
namespace {

math::Elementwise elementwise_parameters(const isa::Registers& registers, bool signed_elements) {
    using enum isa::Register;
    const auto fixed_point = [&](isa::Register multiplier, isa::Register shift) {
        return math::FixedPoint{.multiplier = registers.as_signed(multiplier),
                                .shift = registers.as_signed(shift)};
    };
    return {.zero_point_a = registers.as_signed(VectorZeroPointA),
            .zero_point_b = registers.as_signed(VectorZeroPointB),
            .scale_a = fixed_point(VectorMultiplierA, VectorShiftA),
            .scale_b = fixed_point(VectorMultiplierB, VectorShiftB),
            .scale = fixed_point(VectorMultiplier, VectorShift),
            .zero_point = registers.as_signed(OutputZeroPoint),
            .minimum = registers.as_signed(OutputMinimum),
            .maximum = registers.as_signed(OutputMaximum),
            .signed_elements = signed_elements};
}

/// A copy: results may be written over operands.
std::vector<std::uint8_t> operand(State& state, std::uint64_t first_row, std::uint64_t rows) {
    const auto bytes = state.unified_buffer.rows(first_row, rows);
    return {bytes.begin(), bytes.end()};
}

using ElementwiseFunction = void (*)(std::span<const std::uint8_t>, std::span<const std::uint8_t>,
                                     const math::Elementwise&, std::span<std::uint8_t>);

void apply(ElementwiseFunction function, const isa::Vector& vector, State& state) {
    const auto a = operand(state, vector.source_row, vector.length);
    const auto b = operand(state, vector.other_row, vector.length);
    function(a, b, elementwise_parameters(state.registers, vector.signed_elements),
             state.unified_buffer.rows(vector.destination_row, vector.length));
}

void look_up(const isa::Vector& vector, State& state) {
    const auto table =
        table_of(state.unified_buffer.rows(state.registers[isa::Register::ActivationTableRow],
                                           isa::divide_up(isa::table_bytes, state.row_bytes())));
    math::lookup(operand(state, vector.source_row, vector.length),
                 state.unified_buffer.rows(vector.destination_row, vector.length), table);
}

static_assert(isa::largest_pooling_window <= math::largest_pooling_window);

void pool(math::Pooling operation, const isa::Vector& vector, State& state) {
    const isa::Registers& registers = state.registers;
    const auto geometry = isa::window_geometry<math::WindowGeometry>(registers, state.row_bytes());
    const isa::RowRange images = vector.footprint(registers, state.array).buffer_read;
    const auto tensor = operand(state, images.first, images.last - images.first);

    // The copy begins at the first image with a line of ours.
    const std::uint64_t first_image = vector.first_line / geometry.output_height;
    const std::uint64_t out_image_rows = registers[isa::Register::ActivationImageRows];
    const auto out = state.unified_buffer.from_row(vector.destination_row + first_image * out_image_rows);
    math::pool(tensor.data(), geometry,
               {.operation = operation,
                .signed_elements = vector.signed_elements,
                .count_padding = vector.count_padding,
                .pad_value = static_cast<std::uint8_t>(registers[isa::Register::WindowPadValue])},
               vector.first_line % geometry.output_height, vector.length, out.data(),
               out_image_rows * state.row_bytes());
}

}  // namespace

void execute(const isa::Vector& vector, State& state) {
    switch (vector.operation) {
        case isa::VectorOperation::Add:
            return apply(math::add, vector, state);
        case isa::VectorOperation::Multiply:
            return apply(math::multiply, vector, state);
        case isa::VectorOperation::Lookup:
            return look_up(vector, state);
        case isa::VectorOperation::MaxPool:
            return pool(math::Pooling::Max, vector, state);
        case isa::VectorOperation::AveragePool:
            return pool(math::Pooling::Average, vector, state);
    }
    throw std::logic_error(
        fmt::format("vector: no operation has number {}", static_cast<unsigned>(vector.operation)));
}

}  // namespace systole::functional

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/arithmetic.h"
#include "base/fixed_point.h"
#include "hw/isa/image_slices.h"
#include "hw/isa/operands.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"
#include "hw/math/elementwise.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"
#include "hw/math/pooling.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {
namespace {

math::Elementwise elementwise_parameters(const isa::Registers& registers, const isa::Vector& vector) {
    using enum isa::Register;
    const auto fixed_point = [&](isa::Register multiplier, isa::Register shift) {
        return FixedPoint{.multiplier = registers.as_signed(multiplier), .shift = registers.as_signed(shift)};
    };
    return {.zero_point_a = registers.as_signed(VectorZeroPointA),
            .zero_point_b = registers.as_signed(VectorZeroPointB),
            .scale_a = fixed_point(VectorMultiplierA, VectorShiftA),
            .scale_b = fixed_point(VectorMultiplierB, VectorShiftB),
            .scale = fixed_point(VectorMultiplier, VectorShift),
            .zero_point = registers.as_signed(OutputZeroPoint),
            .minimum = registers.as_signed(OutputMinimum),
            .maximum = registers.as_signed(OutputMaximum),
            .elements = vector.elements,
            .half_to_even = vector.half_to_even};
}

/// A copy of the rows, because results may overwrite operands.
std::vector<std::uint8_t> operand(State& state, std::uint64_t first_row, std::uint64_t rows) {
    const auto bytes = state.unified_buffer.rows(first_row, rows);
    return {bytes.begin(), bytes.end()};
}

using ElementwiseFunction = void (*)(std::span<const std::uint8_t>, std::span<const std::uint8_t>,
                                     const math::Elementwise&, std::span<std::uint8_t>);

/// Calls `work(source, other, result)` with the bytes of each image; without an other operand, it is the
/// source again.
template <class Work>
void for_each_image(const isa::Vector& vector, State& state, Work work) {
    using enum isa::Register;
    const auto slices_of = [&](isa::Register image_rows, std::uint64_t first_row) {
        return isa::image_slices(state.registers, image_rows, first_row, vector.length);
    };
    const isa::ImageSlices results = slices_of(VectorDestinationImageRows, vector.destination_row);
    const isa::ImageSlices sources = slices_of(VectorSourceImageRows, vector.source_row);
    const isa::ImageSlices others =
        vector.has_other() ? slices_of(VectorOtherImageRows, vector.other_row) : sources;
    for (std::uint64_t image = 0; image < results.images(); ++image) {
        const isa::RowRange result = results.of_image(image);
        const std::uint64_t rows = result.last - result.first;
        work(operand(state, sources.of_image(image).first, rows),
             operand(state, others.of_image(image).first, rows),
             state.unified_buffer.rows(result.first, rows));
    }
}

void apply(ElementwiseFunction function, const isa::Vector& vector, State& state) {
    const math::Elementwise parameters = elementwise_parameters(state.registers, vector);
    for_each_image(vector, state, [&](const auto& a, const auto& b, std::span<std::uint8_t> result) {
        function(a, b, parameters, result);
    });
}

void look_up(const isa::Vector& vector, State& state) {
    const auto rows =
        state.unified_buffer.rows(state.registers[isa::Register::ActivationTableRow],
                                  divide_up(isa::table_bytes(vector.elements), state.row_bytes()));
    const std::vector<std::uint8_t> bytes(rows.begin(),
                                          rows.end());  // a copy, because results may overwrite it
    for_each_image(vector, state, [&](const auto& source, const auto&, std::span<std::uint8_t> result) {
        if (bytes_of(vector.elements) == 2) {
            math::lookup(source, result, math::read_interpolated_table(bytes));
        } else {
            math::lookup(source, result, table_of(bytes));
        }
    });
}

void pool(math::Pooling operation, const isa::Vector& vector, State& state) {
    const isa::Registers& registers = state.registers;
    const auto geometry = isa::window_geometry(registers, state.row_bytes());
    const isa::RowRange images =
        vector.footprint(registers, state.array).read_rows(isa::MemoryId::UnifiedBuffer);
    const auto tensor = operand(state, images.first, images.last - images.first);

    // The copy begins at the first image that has one of these lines.
    const std::uint64_t first_image = vector.first_line / geometry.output_height;
    const std::uint64_t out_image_rows = registers[isa::Register::ActivationImageRows];
    const auto out = state.unified_buffer.from_row(vector.destination_row + first_image * out_image_rows);
    const isa::PooledPixel pixel = isa::pooled_pixel(registers);
    math::pool(tensor.data(), geometry,
               {.operation = operation,
                .elements = vector.elements,
                .count_padding = vector.count_padding,
                .pad_value = static_cast<std::uint8_t>(registers[isa::Register::WindowPadValue])},
               vector.first_line % geometry.output_height, vector.length,
               {.first = out.data() + pixel.offset,
                .image_stride = out_image_rows * state.row_bytes(),
                .pixel_stride = pixel.bytes});
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

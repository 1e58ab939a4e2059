#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/fixed_point.h"
#include "hw/isa/tile_layout.h"
#include "sim/functional/tiles/requantize.h"
#include "sim/functional/tiles/tile_instructions.h"

namespace systole::functional {
namespace {

constexpr std::int32_t addition_left_shift = 20;

std::int32_t shifted_left(std::int32_t number) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number) << addition_left_shift);
}

/// The scaled sum or difference of two elements, which are less their zero points.
std::int32_t scaled_sum(const isa::TileVector& vector, std::int32_t a, std::int32_t b,
                        const isa::Registers& registers) {
    using enum isa::Register;
    const bool is_sum = vector.operation == isa::TileOperation::Add;
    const TileMultiplier scale_a = multiplier_of(registers, VectorMultiplierA, VectorShiftA);
    const TileMultiplier scale_b = multiplier_of(registers, VectorMultiplierB, VectorShiftB);
    if (vector.scaling == isa::Scaling::Float) {
        const float first = static_cast<float>(a) * scale_a.single;
        const float second = static_cast<float>(b) * scale_b.single;
        return round_half_to_even(is_sum ? first + second : first - second);
    }
    const std::int32_t first = scaled(shifted_left(a), vector.scaling, scale_a);
    const std::int32_t second = scaled(shifted_left(b), vector.scaling, scale_b);
    return scaled(is_sum ? wrapping_add(first, second) : wrapping_subtract(first, second), vector.scaling,
                  multiplier_of(registers, VectorMultiplier, VectorShift));
}

/// The result of one element, or of two; before it is clamped.
std::int32_t element_result(const isa::TileVector& vector, std::int32_t a, std::int32_t b,
                            const isa::Registers& registers) {
    using enum isa::Register;
    const std::int32_t less_a = a - registers.as_signed(VectorZeroPointA);
    // Without a second operand, any number may be in the register.
    const std::int32_t less_b = wrapping_subtract(b, registers.as_signed(VectorZeroPointB));
    const std::int32_t zero_point = registers.as_signed(OutputZeroPoint);
    const TileMultiplier multiplier = multiplier_of(registers, VectorMultiplier, VectorShift);
    switch (vector.operation) {
        case isa::TileOperation::Add:
        case isa::TileOperation::Subtract:
            return wrapping_add(scaled_sum(vector, less_a, less_b, registers), zero_point);
        case isa::TileOperation::Multiply:
            return wrapping_add(scaled(less_a * less_b, vector.scaling, multiplier), zero_point);
        case isa::TileOperation::Requantize:
            return wrapping_add(scaled(less_a, vector.scaling, multiplier), zero_point);
        case isa::TileOperation::Maximum:
            return std::max(a, b);
        case isa::TileOperation::Minimum:
            return std::min(a, b);
        case isa::TileOperation::MaxPool:
        case isa::TileOperation::AveragePool:
            break;
    }
    throw std::logic_error("an operation of tiles that is not for single elements");
}

/// The result of a window's elements inside the image; before it is clamped.
std::int32_t pooled(const isa::TileVector& vector, const std::vector<std::int32_t>& elements) {
    if (vector.operation == isa::TileOperation::MaxPool) return *std::ranges::max_element(elements);
    std::int32_t sum = 0;
    for (const std::int32_t element : elements) sum += element;
    const auto count = static_cast<std::int32_t>(elements.size());
    if (vector.scaling == isa::Scaling::Float) {
        const float share = 1.0F / static_cast<float>(count);
        return multiply_by_float_to_even(sum, share);
    }
    const std::int32_t half = count / 2;
    return (sum < 0 ? sum - half : sum + half) / count;
}

/// A channel's elements of a window inside the image, from what a tile stores.
std::vector<std::int32_t> window_elements(const isa::TileVector& vector, TileState& state,
                                          const TiledImage& source, std::uint64_t tile, const Pixel& corner,
                                          const isa::TileWindow& window, std::uint64_t channel) {
    std::vector<std::int32_t> elements;
    for (std::uint64_t y = 0; y < window.kernel_height; ++y) {
        for (std::uint64_t x = 0; x < window.kernel_width; ++x) {
            const Pixel pixel{.line = corner.line + static_cast<std::int64_t>(y),
                              .column = corner.column + static_cast<std::int64_t>(x)};
            if (!source.has(pixel)) continue;
            elements.push_back(
                number_of(state.narrow_byte(tile, source.address(tile, pixel) + channel), vector.is_signed));
        }
    }
    return elements;
}

}  // namespace

void execute(const isa::TileVector& vector, TileState& state) {
    const isa::Registers& registers = state.registers;
    const TiledImage source(isa::tile_layout(registers, isa::source_registers, state.grid, vector.source));
    const TiledImage result(isa::tile_layout(registers, isa::result_registers, state.grid, vector.result));
    const TiledImage other =
        vector.has_other()
            ? TiledImage(isa::tile_layout(registers, isa::other_registers, state.grid, vector.other))
            : source;
    const isa::TileWindow window = vector.is_pooling() ? isa::tile_window(registers) : isa::TileWindow();
    const auto outside = static_cast<std::uint8_t>(registers[isa::Register::OutputZeroPoint]);
    for (std::uint64_t tile = 0; tile < state.grid.tiles(); ++tile) {
        for (const Pixel& pixel : result.computed(tile, vector.with_margins)) {
            const bool is_there = result.has(pixel);
            if (!is_there && !vector.with_margins) continue;
            const std::uint64_t to = result.address(tile, pixel);
            for (std::uint64_t channel = 0; channel < static_cast<std::uint64_t>(result.channels());
                 ++channel) {
                if (!is_there) {
                    state.narrow_byte(tile, to + channel) = outside;
                    continue;
                }
                const auto element = [&](const TiledImage& image) {
                    return number_of(state.narrow_byte(tile, image.address(tile, pixel) + channel),
                                     vector.is_signed);
                };
                const std::int32_t number =
                    vector.is_pooling()
                        ? pooled(vector, window_elements(vector, state, source, tile,
                                                         window_corner(window, pixel), window, channel))
                        : element_result(vector, element(source), element(other), registers);
                state.narrow_byte(tile, to + channel) = stored_number(number, registers);
            }
        }
    }
}

}  // namespace systole::functional

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/fixed_point.h"
#include "hw/isa/tile_layout.h"
#include "hw/math/inverse_root.h"
#include "hw/math/round_half_away.h"
#include "hw/math/softmax.h"
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

/// The scaled square of the difference of two elements, which are less their zero points.
std::int32_t scaled_square(std::int32_t a, std::int32_t b, const isa::TileVector& vector,
                           const isa::Registers& registers) {
    using enum isa::Register;
    constexpr std::int32_t headroom = 128;
    const std::int32_t first =
        scaled(a * headroom, vector.scaling, multiplier_of(registers, VectorMultiplierA, VectorShiftA));
    const std::int32_t second =
        scaled(b * headroom, vector.scaling, multiplier_of(registers, VectorMultiplierB, VectorShiftB));
    const std::int32_t difference = wrapping_subtract(first, second);
    return scaled(wrapping_multiply(difference, difference), vector.scaling,
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
        case isa::TileOperation::SquaredDifference:
            return wrapping_add(scaled_square(less_a, less_b, vector, registers), zero_point);
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
        case isa::TileOperation::SumPool:
        case isa::TileOperation::Lookup:
        case isa::TileOperation::Softmax:
        case isa::TileOperation::Interpolate:
        case isa::TileOperation::BiasedSumPool:
        case isa::TileOperation::Normalize:
            break;
    }
    throw std::logic_error("an operation of tiles that is not for single elements");
}

/// The result of a window's elements inside the image; before it is clamped.
std::int32_t pooled(const isa::TileVector& vector, const std::vector<std::int32_t>& elements,
                    const isa::Registers& registers) {
    using enum isa::Register;
    if (vector.operation == isa::TileOperation::MaxPool) return *std::ranges::max_element(elements);
    std::int32_t sum = 0;
    if (vector.operation == isa::TileOperation::SumPool) {
        for (const std::int32_t element : elements) sum += element - registers.as_signed(VectorZeroPointA);
        return wrapping_add(
            scaled(sum, vector.scaling, multiplier_of(registers, VectorMultiplier, VectorShift)),
            registers.as_signed(OutputZeroPoint));
    }
    for (const std::int32_t element : elements) sum += element;
    if (vector.operation == isa::TileOperation::BiasedSumPool) {
        const float product =
            static_cast<float>(sum) * multiplier_of(registers, VectorMultiplier, VectorShift).single;
        const float bias = multiplier_of(registers, VectorMultiplierB, VectorShiftB).single;
        return wrapping_add(math::round_half_away(product + bias), registers.as_signed(OutputZeroPoint));
    }
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

/// A table of a tile: bytes of its own units.
class Table {
public:
    Table(const isa::TileVector& vector, TileState& state, std::uint64_t tile) {
        for (std::uint64_t unit = vector.other; unit < vector.other + vector.table_units(); ++unit) {
            const auto own = state.wide_memory.rows(unit * state.grid.tiles() + tile, 1);
            bytes_.insert(bytes_.end(), own.begin(), own.end());
        }
    }

    std::uint8_t byte(std::size_t index) const { return bytes_.at(index); }
    std::int32_t word(std::size_t index) const {
        std::uint32_t word = 0;
        for (std::size_t i = 4; i-- > 0;) word = word << 8U | bytes_.at(4 * index + i);
        return static_cast<std::int32_t>(word);
    }

private:
    std::vector<std::uint8_t> bytes_;
};

/// The results of all channels of a pixel; before they are clamped.
std::vector<std::int32_t> softmax(const std::vector<std::int32_t>& numbers, const Table& table,
                                  const isa::Registers& registers) {
    const std::int32_t largest = *std::ranges::max_element(numbers);
    std::vector<std::int32_t> results;
    std::int32_t sum = 0;
    for (const std::int32_t number : numbers) {
        results.push_back(table.word(static_cast<std::size_t>(largest - number)));
        sum = wrapping_add(sum, rounding_divide_by_power_of_two(results.back(), 12));
    }
    const math::SoftmaxShare share(sum);
    for (std::int32_t& result : results) {
        result = wrapping_add(share.of(result), registers.as_signed(isa::Register::OutputZeroPoint));
    }
    return results;
}

/// The results of all channels of a pixel divided by the root of their squares' sum; before they are clamped.
std::vector<std::int32_t> normalized(std::vector<std::int32_t> numbers, const isa::TileVector& vector,
                                     const isa::Registers& registers) {
    std::int32_t sum = 0;
    for (std::int32_t& number : numbers) {
        number -= registers.as_signed(isa::Register::VectorZeroPointA);
        sum = wrapping_add(sum, number * number);
    }
    const math::InverseRoot root(sum);
    for (std::int32_t& number : numbers) {
        const std::int32_t quotient =
            vector.is_signed ? multiply_by_quantized_multiplier(number, root.multiplier, root.shift + 7)
                             : multiply_by_quantized_multiplier(number * 128, root.multiplier, root.shift);
        number = wrapping_add(quotient, registers.as_signed(isa::Register::OutputZeroPoint));
    }
    return numbers;
}

/// A line or column of the source around the place of one of the result, and the share of the one behind.
struct Neighbours {
    std::int64_t before = 0;
    std::int64_t behind = 0;
    std::int64_t fixed = 0;
    float real = 0.0F;
};

Neighbours neighbours(const isa::TileVector& vector, std::int64_t inputs, std::int64_t outputs,
                      std::int64_t output) {
    const std::int64_t from = vector.align_corners && outputs > 1 ? inputs - 1 : inputs;
    const std::int64_t to = vector.align_corners && outputs > 1 ? outputs - 1 : outputs;
    Neighbours found;
    if (vector.scaling == isa::Scaling::Float) {
        const float step = static_cast<float>(from) / static_cast<float>(to);
        auto place = static_cast<float>(output);
        if (vector.half_pixel) place += 0.5F;
        place *= step;
        if (vector.half_pixel) place -= 0.5F;
        found.before = static_cast<std::int64_t>(std::floor(place));
        found.behind = static_cast<std::int64_t>(std::ceil(place));
        found.before = std::min(std::max<std::int64_t>(found.before, 0), inputs - 1);
        found.real = place - static_cast<float>(found.before);
    } else {
        const std::int64_t step = (1024 * from + to / 2) / to;
        std::int64_t place = output * step;
        if (vector.half_pixel) place += step / 2 - 512;
        found.before = std::min(std::max<std::int64_t>(place / 1024, 0), inputs - 1);
        found.behind = (place + 1023) / 1024;
        found.fixed = place - 1024 * found.before;
    }
    found.behind = std::min(found.behind, inputs - 1);
    return found;
}

/// The numbers at the upper left, lower left, upper right and lower right.
std::int32_t between(const std::array<std::int32_t, 4>& corners, const Neighbours& lines,
                     const Neighbours& columns, isa::Scaling scaling) {
    if (scaling == isa::Scaling::Float) {
        const std::array<float, 4> shares{(1 - lines.real), lines.real, (1 - lines.real), lines.real};
        float sum = 0.0F;
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const float beside = i < 2 ? 1 - columns.real : columns.real;
            const float product = static_cast<float>(corners.at(i)) * shares.at(i) * beside;
            sum = i == 0 ? product : sum + product;
        }
        const float half_more = sum + 0.5F;
        return static_cast<std::int32_t>(half_more);
    }
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        sum += corners.at(i) * (i % 2 == 0 ? 1024 - lines.fixed : lines.fixed) *
               (i < 2 ? 1024 - columns.fixed : columns.fixed);
    }
    const std::int64_t half = std::int64_t{1} << 19U;
    return static_cast<std::int32_t>((sum > 0 ? sum + half : sum - half) / (2 * half));
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
    const auto channels = static_cast<std::uint64_t>(result.channels());
    for (std::uint64_t tile = 0; tile < state.grid.tiles(); ++tile) {
        const Table table(vector, state, tile);
        const auto element = [&](const TiledImage& image, const Pixel& pixel, std::uint64_t channel) {
            return number_of(state.narrow_byte(tile, image.address(tile, pixel) + channel), vector.is_signed);
        };
        const auto number = [&](const Pixel& pixel, std::uint64_t channel) {
            if (vector.is_pooling()) {
                return pooled(vector,
                              window_elements(vector, state, source, tile, window_corner(window, pixel),
                                              window, channel),
                              registers);
            }
            if (vector.operation == isa::TileOperation::Lookup) {
                return number_of(table.byte(state.narrow_byte(tile, source.address(tile, pixel) + channel)),
                                 vector.is_signed);
            }
            if (vector.operation == isa::TileOperation::Interpolate) {
                const Neighbours lines = neighbours(vector, source.lines(), result.lines(), pixel.line);
                const Neighbours columns =
                    neighbours(vector, source.columns(), result.columns(), pixel.column);
                return between({element(source, {lines.before, columns.before}, channel),
                                element(source, {lines.behind, columns.before}, channel),
                                element(source, {lines.before, columns.behind}, channel),
                                element(source, {lines.behind, columns.behind}, channel)},
                               lines, columns, vector.scaling);
            }
            return element_result(vector, element(source, pixel, channel), element(other, pixel, channel),
                                  registers);
        };
        for (const Pixel& pixel : result.computed(tile, vector.with_margins)) {
            const bool is_there = result.has(pixel);
            if (!is_there && !vector.with_margins) continue;
            const std::uint64_t to = result.address(tile, pixel);
            std::vector<std::int32_t> together;  // results that need all channels of the pixel
            const bool is_softmax = vector.operation == isa::TileOperation::Softmax;
            if (is_there && (is_softmax || vector.operation == isa::TileOperation::Normalize)) {
                for (std::uint64_t channel = 0; channel < channels; ++channel) {
                    together.push_back(element(source, pixel, channel));
                }
                together = is_softmax ? softmax(together, table, registers)
                                      : normalized(std::move(together), vector, registers);
            }
            for (std::uint64_t channel = 0; channel < channels; ++channel) {
                state.narrow_byte(tile, to + channel) =
                    !is_there ? outside
                              : stored_number(together.empty() ? number(pixel, channel) : together[channel],
                                              registers);
            }
        }
    }
}

}  // namespace systole::functional

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "base/data_type.h"
#include "hw/isa/registers.h"

// The results of instructions, computed element by element with integers wide enough for all values.
namespace systole::functional::tests {

inline std::int32_t wrap(std::int64_t value) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
}

/// An integer format of one or two bytes.
inline DataType integer_type(bool wide, bool is_signed) {
    if (wide) return is_signed ? DataType::Int16 : DataType::Uint16;
    return is_signed ? DataType::Int8 : DataType::Uint8;
}

/// Element `index` of little-endian elements of one or two bytes.
inline std::int64_t element_of(std::span<const std::uint8_t> bytes, std::size_t index, bool wide,
                               bool is_signed) {
    if (!wide) return is_signed ? static_cast<std::int8_t>(bytes[index]) : std::int64_t{bytes[index]};
    const std::int64_t value = bytes[2 * index] + 256 * bytes[2 * index + 1];
    return is_signed && value >= 32768 ? value - 65536 : value;
}

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// x * multiplier / 2^31 * 2^shift: to the left first and wrapping; the product to the nearest, halves
/// upwards; to the right last, halves away from zero.
inline std::int32_t scaled(std::int32_t x, std::int32_t multiplier, std::int64_t shift) {
    const std::int64_t left = std::clamp<std::int64_t>(shift, 0, 31);
    const std::int64_t right = std::clamp<std::int64_t>(-shift, 0, 31);
    const std::int32_t shifted = wrap(x * (std::int64_t{1} << left));
    const std::int64_t product = std::int64_t{shifted} * multiplier;
    const std::int64_t high =
        std::min<std::int64_t>(floor_divide(product + (std::int64_t{1} << 30), std::int64_t{1} << 31),
                               std::numeric_limits<std::int32_t>::max());
    if (right == 0) return wrap(high);
    const std::int64_t half = std::int64_t{1} << (right - 1);
    const std::int64_t magnitude = ((high < 0 ? -high : high) + half) >> right;
    return wrap(high < 0 ? -magnitude : magnitude);
}

/// The same rounded once, halves to the even number, and cut off at 31 bits.
inline std::int32_t scaled_to_even(std::int32_t x, std::int32_t multiplier, std::int64_t shift) {
    const long double exact = std::ldexp(static_cast<long double>(std::int64_t{x} * multiplier),
                                         static_cast<int>(std::clamp<std::int64_t>(shift, -31, 31)) - 31);
    return static_cast<std::int32_t>(std::clamp(std::nearbyint(exact), -0x1p30L, 0x1p30L - 1.0L));
}

/// Adds output.zero_point and clamps.
inline std::int32_t finished(std::int32_t value, const isa::Registers& registers) {
    const std::int32_t sum = wrap(std::int64_t{value} + registers.as_signed(isa::Register::OutputZeroPoint));
    return std::clamp(sum, registers.as_signed(isa::Register::OutputMinimum),
                      registers.as_signed(isa::Register::OutputMaximum));
}

/// The position of a window's pixel, in elements from the beginning of the first image's row; absent outside
/// the image. Rows from image to image are window.image_rows.
struct WindowPixel {
    std::uint64_t image;
    std::uint64_t element;
};
inline std::optional<WindowPixel> window_pixel(const isa::Registers& registers, std::uint64_t line,
                                               std::uint64_t x, std::uint64_t kernel_row,
                                               std::uint64_t kernel_column) {
    using enum isa::Register;
    const std::uint64_t output_height = registers[WindowOutputHeight];
    const auto in_y =
        static_cast<std::int64_t>(line % output_height * registers[WindowStrideY] + kernel_row) -
        registers[WindowPadTop];
    const auto in_x =
        static_cast<std::int64_t>(x * registers[WindowStrideX] + kernel_column) - registers[WindowPadLeft];
    if (in_y < 0 || in_x < 0 || in_y >= registers[WindowInputHeight] || in_x >= registers[WindowInputWidth]) {
        return std::nullopt;
    }
    const auto pixel = static_cast<std::uint64_t>(in_y * registers[WindowInputWidth] + in_x);
    return WindowPixel{.image = line / output_height, .element = pixel * registers[WindowChannels]};
}

}  // namespace systole::functional::tests

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace systole::math {

/// A function of 16-bit numbers, given by its values at every 128th number as in TFLite's int16 kernels.
/// Entry i is the value at the stored number 128 * i - 32768; the last entry is the value at 32768.
using InterpolatedTable = std::array<std::int16_t, 513>;

/// The linear interpolation between two entries:
/// table[i] + (table[i + 1] - table[i]) * f / 128, rounded to nearest, halves upwards, where x + 32768 is
/// 128 * i + f. The result lies between the two entries.
constexpr std::int16_t interpolate(const InterpolatedTable& table, std::int16_t x) {
    constexpr std::int32_t steps = 128;  // a power of two: the shift below divides by it and rounds down
    constexpr std::int32_t step_bits = 7;
    const std::int32_t offset = std::int32_t{x} + 32768;
    const auto index = static_cast<std::size_t>(offset / steps);
    const std::int32_t base = table[index];
    const std::int32_t slope = table[index + 1] - base;
    return static_cast<std::int16_t>(base + ((slope * (offset % steps) + steps / 2) >> step_bits));
}

/// out[i] = interpolate(table, in[i]) of little-endian 16-bit elements at any alignment; a last odd byte of
/// `out` keeps its value. `out` may be `in`. Throws std::logic_error if the sizes differ.
void lookup(std::span<const std::uint8_t> in, std::span<std::uint8_t> out, const InterpolatedTable& table);

/// Reads a table of 513 little-endian numbers. Throws std::logic_error if there are fewer bytes.
InterpolatedTable read_interpolated_table(std::span<const std::uint8_t> bytes);

}  // namespace systole::math

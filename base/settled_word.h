#pragma once

#include <cstdint>

namespace systole {

/// The one NaN of machines that compute in floats, as a word of 32 bits.
inline constexpr std::uint32_t settled_nan = 0x7FC00000;

/// The word of a float32 as these machines store it: a subnormal number is a zero of its sign, and there is
/// one NaN.
constexpr std::uint32_t settled_word(std::uint32_t word) {
    constexpr std::uint32_t sign = 0x80000000;
    constexpr std::uint32_t infinity = 0x7F800000;
    constexpr std::uint32_t smallest = 0x00800000;
    const std::uint32_t size = word & ~sign;
    const std::uint32_t number = size < smallest ? word & sign : word;
    return size > infinity ? settled_nan : number;
}

}  // namespace systole

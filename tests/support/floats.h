#pragma once

#include <bit>
#include <cstdint>
#include <limits>

// Words for tests of float32.
namespace systole::tests {

inline constexpr float float_infinity = std::numeric_limits<float>::infinity();

/// Two floats are the same if their bits are: NaN and the sign of zero count.
constexpr std::uint32_t bits_of(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

}  // namespace systole::tests

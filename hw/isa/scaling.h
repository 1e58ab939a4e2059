#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace systole::isa {

/// How the tiles scale sums to results.
enum class Scaling : std::uint8_t {
    FixedPoint,  ///< int32 multiplier and shift: `multiply_by_quantized_multiplier`
    ToEven,      ///< the same, rounded once, halves to the even number: `multiply_to_even`
    Real,        ///< float64 multiplier: `multiply_by_real`
    Float,       ///< float32 multiplier, halves to the even number: `multiply_by_float_to_even`
};

inline constexpr std::array<std::string_view, 4> scaling_names{"fixed_point", "to_even", "real", "float"};

/// Bytes of an output channel's multiplier in a block of parameters.
constexpr std::uint64_t multiplier_bytes(Scaling scaling) {
    constexpr std::uint64_t word = 4;
    return scaling == Scaling::Float ? word : 2 * word;
}

}  // namespace systole::isa

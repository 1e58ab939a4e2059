#pragma once

#include <cstdint>

namespace systole::isa {

/// How the activation unit scales sums.
enum class Multipliers : std::uint8_t {
    FixedPoint,  ///< int32 multiplier and int8 shift: `multiply_by_quantized_multiplier`
    Real,        ///< float64 multiplier: `multiply_by_real`
};

/// Bytes of the requantization parameters of a column: an int32 bias, and an int32 multiplier and an int8
/// shift, or a float64 multiplier.
constexpr std::uint64_t parameter_bytes(Multipliers multipliers) {
    constexpr std::uint64_t fixed_point = 4 + 4 + 1;
    constexpr std::uint64_t real = 4 + 8;
    return multipliers == Multipliers::Real ? real : fixed_point;
}

}  // namespace systole::isa

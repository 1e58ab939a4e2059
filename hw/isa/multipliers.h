#pragma once

#include <cstdint>

namespace systole::isa {

/// How the activation unit scales sums.
enum class Multipliers : std::uint8_t {
    FixedPoint,  ///< int32 multiplier and int8 shift: `multiply_by_quantized_multiplier`
    Real,        ///< float64 multiplier: `multiply_by_real`
    ToEven,      ///< as FixedPoint, rounded once, halves to the even number: `multiply_to_even`
    RealToEven,  ///< as Real, halves to the even number: `multiply_by_real_to_even`
};

/// Whether the multipliers are of float64.
constexpr bool are_real(Multipliers multipliers) {
    return multipliers == Multipliers::Real || multipliers == Multipliers::RealToEven;
}

/// Whether halves are rounded to the even number.
constexpr bool round_to_even(Multipliers multipliers) {
    return multipliers == Multipliers::ToEven || multipliers == Multipliers::RealToEven;
}

constexpr Multipliers multipliers_of(bool is_real, bool to_even) {
    if (is_real) return to_even ? Multipliers::RealToEven : Multipliers::Real;
    return to_even ? Multipliers::ToEven : Multipliers::FixedPoint;
}

/// Bytes of the requantization parameters of a column: an int32 bias, and an int32 multiplier and an int8
/// shift, or a float64 multiplier.
constexpr std::uint64_t parameter_bytes(Multipliers multipliers) {
    constexpr std::uint64_t fixed_point = 4 + 4 + 1;
    constexpr std::uint64_t real = 4 + 8;
    return are_real(multipliers) ? real : fixed_point;
}

}  // namespace systole::isa

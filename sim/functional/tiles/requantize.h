#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "base/fixed_point.h"
#include "hw/isa/registers.h"
#include "hw/isa/scaling.h"

// The numbers of tiles. Includers are compiled with -ffp-contract=off (CMakeLists.txt).
namespace systole::functional {

/// A multiplier as an instruction's scaling reads it.
struct TileMultiplier {
    std::int32_t fixed = 0;  ///< FixedPoint, ToEven
    std::int32_t shift = 0;  ///< FixedPoint, ToEven
    double real = 0;         ///< Real
    float single = 0;        ///< Float
};

/// The multiplier in two registers; of Float, the first holds the bits of a float32.
inline TileMultiplier multiplier_of(const isa::Registers& registers, isa::Register multiplier,
                                    isa::Register shift) {
    return {.fixed = registers.as_signed(multiplier),
            .shift = registers.as_signed(shift),
            .single = std::bit_cast<float>(registers[multiplier])};
}

inline std::int32_t scaled(std::int32_t number, isa::Scaling scaling, const TileMultiplier& by) {
    switch (scaling) {
        case isa::Scaling::FixedPoint:
            return multiply_by_quantized_multiplier(number, by.fixed, by.shift);
        case isa::Scaling::ToEven:
            return multiply_to_even(number, by.fixed, by.shift);
        case isa::Scaling::Real:
            return multiply_by_real(number, by.real);
        case isa::Scaling::Float:
            return multiply_by_float_to_even(number, by.single);
    }
    throw std::logic_error("a scaling that does not exist");
}

/// A result within output.minimum and output.maximum, as it is stored.
inline std::uint8_t stored_number(std::int32_t number, const isa::Registers& registers) {
    return static_cast<std::uint8_t>(std::clamp(number, registers.as_signed(isa::Register::OutputMinimum),
                                                registers.as_signed(isa::Register::OutputMaximum)));
}

/// The number that a byte stands for.
inline std::int32_t number_of(std::uint8_t byte, bool is_signed) {
    return is_signed ? static_cast<std::int8_t>(byte) : byte;
}

}  // namespace systole::functional

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "base/fixed_point.h"
#include "hw/isa/instructions/tile_vector.h"
#include "hw/isa/interpolation.h"
#include "hw/isa/registers.h"
#include "hw/isa/scaling.h"
#include "hw/isa/tile_grid.h"
#include "hw/math/elementwise.h"
#include "hw/math/inverse_root.h"

// The arithmetic of one element in a tile (docs/isa.md).
namespace systole::hw {

/// A number of an 8-bit format.
inline std::int32_t element(std::uint8_t byte, bool is_signed) {
    return is_signed ? std::int32_t{static_cast<std::int8_t>(byte)} : std::int32_t{byte};
}

/// A multiplier as it lies in registers and in blocks of parameters: two words, of which Float has the first
/// alone, FixedPoint and ToEven have the multiplier and the shift, and Real has the lower and the upper one.
struct MultiplierWords {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
};

inline double real_multiplier(const MultiplierWords& words) {
    return std::bit_cast<double>(std::uint64_t{words.second} << 32U | words.first);
}

/// The shift of a fixed-point multiplier; beyond 31 places it counts as 31.
inline std::int32_t shift_of(const MultiplierWords& words) {
    return std::clamp(static_cast<std::int32_t>(words.second), -shift_limit, shift_limit);
}

inline std::int32_t scale_sum(std::int32_t sum, isa::Scaling scaling, const MultiplierWords& words) {
    switch (scaling) {
        case isa::Scaling::FixedPoint:
            return multiply_by_quantized_multiplier(sum, static_cast<std::int32_t>(words.first),
                                                    shift_of(words));
        case isa::Scaling::ToEven:
            return multiply_to_even(sum, static_cast<std::int32_t>(words.first), shift_of(words));
        case isa::Scaling::Real:
            return multiply_by_real(sum, real_multiplier(words));
        case isa::Scaling::Float:
            return multiply_by_float_to_even(sum, std::bit_cast<float>(words.first));
    }
    throw std::logic_error("a scaling that does not exist");
}

/// The rules of an element-wise instruction or of pooling, from the registers bound to it.
struct ElementRules {
    isa::TileOperation operation = isa::TileOperation::Add;
    isa::Scaling scaling = isa::Scaling::FixedPoint;
    bool is_signed = false;
    std::int32_t zero_point_a = 0;
    std::int32_t zero_point_b = 0;
    MultiplierWords multiplier_a = {};
    MultiplierWords multiplier_b = {};
    MultiplierWords multiplier = {};
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 0;

    std::uint8_t stored(std::int32_t number) const {
        return static_cast<std::uint8_t>(std::clamp(number, minimum, maximum));
    }
    std::uint8_t scaled(std::int32_t number) const { return stored(wrapping_add(number, zero_point)); }
};
ElementRules element_rules(const isa::TileVector& vector, const isa::Registers& registers);

/// The result of element-wise work; `b` is ignored by operations on one operand.
std::uint8_t combine(const ElementRules& rules, std::uint8_t a, std::uint8_t b);

/// The result of pooling `count` stored numbers, at least one.
std::uint8_t pooled(const ElementRules& rules, std::int32_t sum, std::int32_t largest, std::int32_t count);

/// A number, less its zero point, divided by the root of the sum of its pixel's squares: in steps of 1/128.
std::uint8_t normalized(const ElementRules& rules, std::int32_t number, const math::InverseRoot& root);

/// The four numbers around a place: upper left, lower left, upper right, lower right.
using Corners = std::array<std::int32_t, 4>;
/// The number at a place between them.
std::int32_t interpolated(const Corners& corners, const isa::InterpolatedPlace& line,
                          const isa::InterpolatedPlace& column, bool in_float);

/// A word of a table, little endian.
inline std::int32_t table_word(const std::uint8_t* table, std::size_t index) {
    std::int32_t word = 0;
    std::memcpy(&word, table + index * isa::tile_word, sizeof word);
    return word;
}

}  // namespace systole::hw

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace systole::hw {

// What the cells of a PeArray compute with: the types of their registers, and what a pass says to them
// besides its way through the array.

/// Cells that multiply bytes, and add up integers that wrap around. Operands of several bytes take a pass
/// for each pair of bytes.
struct IntegerCells {
    using Element = std::int16_t;
    using Weight = std::int16_t;
    using Sum = std::int32_t;
    using Mask = std::int16_t;  ///< as wide as a weight

    /// Whether passes multiply with a part of the weights, and there is a row-sum column.
    static constexpr bool multiplies_bytes = true;

    /// The part of each weight that the cells multiply in a pass.
    enum class WeightPart : std::uint8_t { Whole, LowByte, HighByte };

    struct Pass {
        WeightPart weight_part = WeightPart::Whole;
        std::int16_t weight_zero_point = 0;  ///< moves down the row-sum column with the row's sum
        std::uint8_t shift = 0;              ///< the sums are multiplied by 2^shift
    };

    /// The weight of a cell outside the tile: the cell adds nothing.
    static constexpr Weight no_weight = 0;
};

/// Cells that compute in floats: fma(element, weight, sum), rounded once and settled (hw/math/floats). Their
/// sums are float32 in the accumulators' words.
struct FloatCells {
    using Element = float;
    using Weight = float;
    using Sum = float;
    using Mask = std::int32_t;

    static constexpr bool multiplies_bytes = false;

    struct Pass {};

    /// The weight of a cell outside the tile, which passes its sum through: to add 0 times an element would
    /// make NaN of an infinite one, and +0 of a sum of -0. No settled number has these bits.
    static constexpr std::uint32_t no_weight_bits = 0xFFFFFFFF;
    static constexpr Weight no_weight = std::bit_cast<float>(no_weight_bits);
};

}  // namespace systole::hw

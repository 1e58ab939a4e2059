#pragma once

#include <cstdint>

#include "hw/isa/forward.h"

namespace systole::isa {

/// What `matrix_multiply` and `convolve` have in common: the flags byte.
struct MatrixFlags {
    /// Add to the accumulators instead of overwriting them. Repetitions after the first always add.
    bool accumulate = false;
    /// Use the weights already in the array instead of switching to the next tile.
    bool keep_weights = false;
    /// Activations are two's complement instead of unsigned.
    bool signed_activations = false;
    /// Activations are 16-bit, little endian, two bytes an element.
    bool wide_activations = false;
    /// Weights are 16-bit.
    bool wide_weights = false;

    bool operator==(const MatrixFlags&) const = default;
};

/// Shows the flags byte.
void visit_flags(FieldVisitor& visitor, MatrixFlags& flags);

/// Cycles of array input a streamed row takes: 1 for 8b x 8b, 2 for 8b x 16b, 4 for 16b x 16b.
constexpr std::uint32_t passes(const MatrixFlags& flags) {
    return (flags.wide_activations ? 2U : 1U) * (flags.wide_weights ? 2U : 1U);
}

}  // namespace systole::isa

#pragma once

#include <span>

#include "base/word_operation.h"

namespace systole::math {

/// Functions of one float32: those of WordOperation with one operand that are computed as a series. Each has
/// one implementation here, of additions, multiplications, divisions and roots of float64 in a fixed order,
/// and none of a system's library: so bits are the same on every processor. A result is the nearest float32
/// to a value whose relative error is below 2^-45 (tests compare with `long double`), and settled.

/// out[i] = function(in[i]); `out` may be `in`. Operands must be settled. Throws std::logic_error if the
/// sizes differ.
void apply_function(WordOperation function, std::span<const float> in, std::span<float> out);

/// The same of one number.
float evaluate(WordOperation function, float x);

}  // namespace systole::math

#pragma once

#include "hw/math/floats/float_product.h"

namespace systole::math {

/// `multiply_pass` on the processor's vectors. False where the processor has none that multiply and add with
/// one rounding; nothing is computed then.
bool multiply_pass_vectors(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                           const FloatSums& sums);

}  // namespace systole::math

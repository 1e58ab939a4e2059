#pragma once

#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// How the array holds the weights of a product. Weights with a zero point stay int8 if the array has row
/// sums: it subtracts the zero point, times the sum of each row, from the row's results. Otherwise the tiles
/// hold the differences to the zero point, which need 9 bits: they are int16, for which the array takes twice
/// the passes.
struct ArrayWeights {
    DataType type = DataType::Int8;
    std::int32_t zero_point = 0;  ///< that the array subtracts

    bool operator==(const ArrayWeights&) const = default;
};

inline ArrayWeights array_weights(const MatrixProduct& product, const Target& target) {
    if (product.weight_zero_point == 0) return {.type = product.weight_type};
    if (target.row_sums) return {.type = product.weight_type, .zero_point = product.weight_zero_point};
    return {.type = DataType::Int16};
}

}  // namespace systole::tpu_v1

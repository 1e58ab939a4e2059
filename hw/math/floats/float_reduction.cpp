#include "hw/math/floats/float_reduction.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

/// Columns that are reduced together.
constexpr std::size_t columns_at_once = 16;

template <Reduction Which>
SYSTOLE_ALWAYS_INLINE float combined(float a, float b) {
    if constexpr (Which == Reduction::Sum) return settled(a + b);
    if constexpr (Which == Reduction::Product) return settled(a * b);
    if constexpr (Which == Reduction::Maximum) return larger_of(a, b);
    if constexpr (Which == Reduction::Minimum) return smaller_of(a, b);
}

template <Reduction Which>
SYSTOLE_ALWAYS_INLINE void reduce_columns(const ReductionInput& input, float* out) {
    alignas(64) float rows[reduction_block][columns_at_once];
    for (std::size_t first = 0; first < input.columns; first += columns_at_once) {
        const std::size_t columns = std::min(columns_at_once, input.columns - first);
        for (std::size_t i = 0; i < input.count; ++i) {
            const float* const from = input.data + i * input.stride + first * input.column_stride;
            for (std::size_t column = 0; column < columns; ++column) {
                rows[i][column] = from[column * input.column_stride];
            }
            for (std::size_t column = columns; column < columns_at_once; ++column) rows[i][column] = 0.0F;
        }
        for (std::size_t left = input.count; left > 1;) {
            const std::size_t half = std::bit_ceil(left) / 2;
            for (std::size_t i = 0; i + half < left; ++i) {
                for (std::size_t column = 0; column < columns_at_once; ++column) {
                    rows[i][column] = combined<Which>(rows[i][column], rows[i + half][column]);
                }
            }
            left = half;
        }
        std::copy(rows[0], rows[0] + columns, out + first);
    }
}

SYSTOLE_TARGET_CLONES void reduce_block_of(Reduction reduction, const ReductionInput& input, float* out) {
    switch (reduction) {
        case Reduction::Sum:
            return reduce_columns<Reduction::Sum>(input, out);
        case Reduction::Product:
            return reduce_columns<Reduction::Product>(input, out);
        case Reduction::Maximum:
            return reduce_columns<Reduction::Maximum>(input, out);
        case Reduction::Minimum:
            return reduce_columns<Reduction::Minimum>(input, out);
    }
}

}  // namespace

float combine(Reduction reduction, float a, float b) {
    switch (reduction) {
        case Reduction::Sum:
            return combined<Reduction::Sum>(a, b);
        case Reduction::Product:
            return combined<Reduction::Product>(a, b);
        case Reduction::Maximum:
            return combined<Reduction::Maximum>(a, b);
        case Reduction::Minimum:
            return combined<Reduction::Minimum>(a, b);
    }
    throw std::logic_error("not a reduction");
}

void reduce_block(Reduction reduction, const ReductionInput& input, float* out) {
    if (input.count == 0 || input.count > reduction_block) {
        throw std::logic_error("a block of a reduction has 1 to 128 numbers");
    }
    reduce_block_of(reduction, input, out);
}

void reduce(Reduction reduction, const ReductionInput& input, float* out) {
    ReductionInput block = input;
    block.count = std::min(input.count, reduction_block);
    reduce_block(reduction, block, out);
    std::vector<float> next(input.count > reduction_block ? input.columns : 0);
    for (std::size_t first = block.count; first < input.count; first += block.count) {
        block.data = input.data + first * input.stride;
        block.count = std::min(reduction_block, input.count - first);
        reduce_block(reduction, block, next.data());
        for (std::size_t column = 0; column < input.columns; ++column) {
            out[column] = combine(reduction, out[column], next[column]);
        }
    }
}

}  // namespace systole::math

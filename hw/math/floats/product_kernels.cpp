#include "hw/math/floats/product_kernels.h"

#include "hw/math/target_clones.h"

#ifndef SYSTOLE_HAS_TARGET_VERSIONS

namespace systole::math {

bool multiply_pass_vectors(const FloatMatrix&, std::size_t, const FloatWeights&, const FloatSums&) {
    return false;
}

}  // namespace systole::math

#else

#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "hw/math/floats/float_values.h"

namespace systole::math {
namespace {

constexpr std::size_t panel_columns = FloatWeights::panel_columns;

/// Within a scope, the calling thread's vector operations take subnormal operands for zeros, and leave
/// subnormal results as they are rounded. So a sum that becomes subnormal is a zero for the operation that
/// follows, as if it had been settled. The processor's own way to make results zero judges them before they
/// are rounded: some that round to the smallest normal number would be lost.
class SubnormalOperandsAreZero {
public:
    SubnormalOperandsAreZero() : before_(_mm_getcsr()) {
        constexpr unsigned operands_are_zero = 0x0040;
        constexpr unsigned results_are_zero = 0x8000;
        _mm_setcsr((before_ | operands_are_zero) & ~results_are_zero);
    }
    ~SubnormalOperandsAreZero() { _mm_setcsr(before_); }
    SubnormalOperandsAreZero(const SubnormalOperandsAreZero&) = delete;
    SubnormalOperandsAreZero& operator=(const SubnormalOperandsAreZero&) = delete;

private:
    unsigned before_;
};

/// Sums as they lie in registers become elements of C.
void store_sums(const float* sums, std::size_t count, float* c, bool accumulate) {
    if (accumulate) {
        for (std::size_t i = 0; i < count; ++i) c[i] = settled(c[i] + settled(sums[i]));
    } else {
        for (std::size_t i = 0; i < count; ++i) c[i] = settled(sums[i]);
    }
}

template <std::size_t Count>
using Lanes [[gnu::vector_size(Count * sizeof(float))]] = float;

/// A pass over rows of A, and where the columns of one panel lie.
struct Panel {
    const FloatMatrix& a;
    std::size_t k;
    const float* weights;
};

/// Sums of `Rows` rows with `Vectors` vectors of columns, in registers while all of k passes. Loops over
/// rows, vectors and lanes are unrolled, so that the compiler keeps every sum in a register of its own.
template <std::size_t LaneCount, std::size_t Rows, std::size_t Vectors>
SYSTOLE_ALWAYS_INLINE void sum_block(const Panel& panel, std::size_t row, std::size_t column, float* sums) {
    using Vector = Lanes<LaneCount>;
    Vector sum[Rows][Vectors];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
        for (std::size_t v = 0; v < Vectors; ++v) sum[r][v] = Vector{};
    }
    const float* const a = panel.a.data + row * panel.a.row_elements;
    for (std::size_t i = 0; i < panel.k; ++i) {
        Vector weights[Vectors];
#pragma GCC unroll 16
        for (std::size_t v = 0; v < Vectors; ++v) {
            std::memcpy(&weights[v], panel.weights + i * panel_columns + column + v * LaneCount,
                        sizeof(Vector));
        }
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Rows; ++r) {
            const float factor = a[r * panel.a.row_elements + i];
#pragma GCC unroll 16
            for (std::size_t v = 0; v < Vectors; ++v) {
                Vector next;
#pragma GCC unroll 16
                for (std::size_t lane = 0; lane < LaneCount; ++lane) {
                    next[lane] = __builtin_fmaf(factor, weights[v][lane], sum[r][v][lane]);
                }
                sum[r][v] = next;
            }
        }
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
        for (std::size_t v = 0; v < Vectors; ++v) {
            std::memcpy(sums + r * panel_columns + column + v * LaneCount, &sum[r][v], sizeof(Vector));
        }
    }
}

/// All columns of a panel.
template <std::size_t LaneCount, std::size_t Rows, std::size_t Vectors>
SYSTOLE_ALWAYS_INLINE void sum_rows(const Panel& panel, std::size_t row, float* sums) {
    static_assert(panel_columns % (LaneCount * Vectors) == 0);
#pragma GCC unroll 16
    for (std::size_t column = 0; column < panel_columns; column += LaneCount * Vectors) {
        sum_block<LaneCount, Rows, Vectors>(panel, row, column, sums);
    }
}

/// `Rows` are summed at once, the last ones by fewer.
template <std::size_t LaneCount, std::size_t Rows, std::size_t Vectors>
SYSTOLE_ALWAYS_INLINE void sum_all(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                                   const FloatSums& out) {
    const SubnormalOperandsAreZero scope;
    alignas(64) std::array<float, Rows * panel_columns> sums;
    for (std::size_t first = 0; first < weights.n(); first += panel_columns) {
        const Panel panel{.a = a, .k = weights.k(), .weights = weights.panel(first / panel_columns)};
        const std::size_t columns = std::min(panel_columns, weights.n() - first);
        for (std::size_t row = 0; row < m;) {
            const std::size_t rows = m - row < Rows ? 1 : Rows;
            if (rows == 1) {
                sum_rows<LaneCount, 1, Vectors>(panel, row, sums.data());
            } else {
                sum_rows<LaneCount, Rows, Vectors>(panel, row, sums.data());
            }
            for (std::size_t r = 0; r < rows; ++r, ++row) {
                store_sums(sums.data() + r * panel_columns, columns,
                           out.data + row * out.row_elements + first, out.accumulate);
            }
        }
    }
}

SYSTOLE_TARGET_AVX512 bool multiply(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                                    const FloatSums& sums) {
    sum_all<16, 8, 2>(a, m, weights, sums);
    return true;
}

SYSTOLE_TARGET_AVX2 bool multiply(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                                  const FloatSums& sums) {
    sum_all<8, 6, 2>(a, m, weights, sums);
    return true;
}

SYSTOLE_TARGET_DEFAULT bool multiply(const FloatMatrix&, std::size_t, const FloatWeights&, const FloatSums&) {
    return false;
}

}  // namespace

bool multiply_pass_vectors(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                           const FloatSums& sums) {
    return multiply(a, m, weights, sums);
}

}  // namespace systole::math
#endif

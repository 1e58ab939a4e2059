#include "hw/math/floats/float_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>

#include "base/arithmetic.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/product_kernels.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

/// A part of A and a part of B.
struct PairOfParts {
    std::size_t a;
    std::size_t b;
};

/// Those with the smallest products first.
std::span<const PairOfParts> passes_of(Precision precision) {
    static constexpr PairOfParts one[] = {{0, 0}};
    static constexpr PairOfParts three[] = {{1, 0}, {0, 1}, {0, 0}};
    static constexpr PairOfParts six[] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    switch (precision) {
        case Precision::Default:
            return one;
        case Precision::High:
            return three;
        case Precision::Highest:
            return six;
    }
    throw std::logic_error("not a precision");
}

/// The parts of a row, `part_elements` from one part to the next.
SYSTOLE_TARGET_CLONES void cut_row(const float* from, std::size_t columns, std::size_t parts,
                                   std::size_t part_elements, float* out) {
    constexpr float largest = std::numeric_limits<float>::max();
    constexpr std::size_t chunk = 256;
    alignas(64) std::array<float, chunk> rest;
    for (std::size_t first = 0; first < columns; first += chunk) {
        const std::size_t count = std::min(chunk, columns - first);
        for (std::size_t i = 0; i < count; ++i) rest[i] = settled(from[first + i]);
        for (std::size_t part = 0; part < parts; ++part) {
            float* const to = out + part * part_elements + first;
            for (std::size_t i = 0; i < count; ++i) {
                const float nearest = rounded_to_bfloat16(rest[i]);
                to[i] = nearest;
                // The difference is exact. A part that is infinite or no number leaves nothing.
                rest[i] = std::abs(nearest) <= largest ? settled(rest[i] - nearest) : 0.0F;
            }
        }
    }
}

}  // namespace

void cut_into_parts(const FloatMatrix& matrix, std::size_t rows, std::size_t columns, std::size_t parts,
                    float* out) {
    for (std::size_t row = 0; row < rows; ++row) {
        cut_row(matrix.data + row * matrix.row_elements, columns, parts, rows * columns, out + row * columns);
    }
}

FloatWeights::FloatWeights(const FloatMatrix& weights, std::size_t k, std::size_t n)
    : k_(k), n_(n), values_(k * round_up(n, panel_columns)) {
    for (std::size_t first = 0; first < n; first += panel_columns) {
        float* const to = values_.data() + first * k;
        const std::size_t columns = std::min(panel_columns, n - first);
        for (std::size_t row = 0; row < k; ++row) {
            const float* const from = weights.data + row * weights.row_elements + first;
            std::copy(from, from + columns, to + row * panel_columns);
        }
    }
}

void multiply_pass_portable(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                            const FloatSums& sums) {
    constexpr std::size_t panel_columns = FloatWeights::panel_columns;
    for (std::size_t row = 0; row < m; ++row) {
        const float* const in = a.data + row * a.row_elements;
        for (std::size_t column = 0; column < weights.n(); ++column) {
            const float* const weight = weights.panel(column / panel_columns) + column % panel_columns;
            float sum = 0.0F;
            for (std::size_t i = 0; i < weights.k(); ++i) {
                sum = settled(std::fma(in[i], weight[i * panel_columns], sum));
            }
            float& c = sums.data[row * sums.row_elements + column];
            c = sums.accumulate ? settled(c + sum) : sum;
        }
    }
}

void multiply_pass(const FloatMatrix& a, std::size_t m, const FloatWeights& weights, const FloatSums& sums) {
    if (multiply_pass_vectors(a, m, weights, sums)) return;
    multiply_pass_portable(a, m, weights, sums);
}

void multiply_in_order(const FloatProduct& product) {
    const auto& [a, b, c, c_row_elements, m, n, k, sum_tile, precision] = product;
    if (sum_tile == 0) throw std::logic_error("sums are cut into runs of 0");
    const std::size_t parts = parts_of(precision);
    const std::size_t longest = std::min(k, sum_tile);
    std::vector<float> a_parts(parts * m * longest);
    std::vector<float> b_parts(parts * longest * n);
    std::vector<FloatWeights> weights;
    if (k == 0) {
        for (std::size_t row = 0; row < m; ++row) std::fill_n(c + row * c_row_elements, n, 0.0F);
    }
    for (std::size_t first = 0; first < k; first += sum_tile) {
        const std::size_t count = std::min(sum_tile, k - first);
        cut_into_parts({a.data + first, a.row_elements}, m, count, parts, a_parts.data());
        cut_into_parts({b.data + first * b.row_elements, b.row_elements}, count, n, parts, b_parts.data());
        weights.clear();
        for (std::size_t part = 0; part < parts; ++part) {
            weights.emplace_back(FloatMatrix{b_parts.data() + part * count * n, n}, count, n);
        }
        bool accumulate = first > 0;
        for (const PairOfParts& pass : passes_of(precision)) {
            multiply_pass({a_parts.data() + pass.a * m * count, count}, m, weights[pass.b],
                          {c, c_row_elements, accumulate});
            accumulate = true;
        }
    }
}

}  // namespace systole::math

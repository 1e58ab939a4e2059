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

/// A run of the elements of a sum.
struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
};

void require_runs(std::size_t sum_tile) {
    if (sum_tile == 0) throw std::logic_error("sums are cut into runs of 0");
}

void fill_with_zeros(float* c, std::size_t c_row_elements, std::size_t m, std::size_t n) {
    for (std::size_t row = 0; row < m; ++row) std::fill_n(c + row * c_row_elements, n, 0.0F);
}

/// The rows of a run of B, by part; without a precision as they are.
std::vector<FloatWeights> weights_of(const Run& run, const FloatMatrix& b, std::size_t n,
                                     std::optional<Precision> precision) {
    const FloatMatrix rows{b.data + run.first * b.row_elements, b.row_elements};
    std::vector<FloatWeights> weights;
    if (!precision) {
        weights.emplace_back(rows, run.count, n);
        return weights;
    }
    const std::size_t parts = parts_of(*precision);
    std::vector<float> cut(parts * run.count * n);
    cut_into_parts(rows, run.count, n, parts, cut.data());
    for (std::size_t part = 0; part < parts; ++part) {
        weights.emplace_back(FloatMatrix{cut.data() + part * run.count * n, n}, run.count, n);
    }
    return weights;
}

/// Adds the products of a run to the sums of those before it.
void multiply_run(const Run& run, const FloatMatrix& a, std::size_t m,
                  const std::vector<FloatWeights>& weights, std::optional<Precision> precision,
                  FloatSums sums) {
    const FloatMatrix columns{a.data + run.first, a.row_elements};
    sums.accumulate = run.first > 0;
    if (!precision) return multiply_pass(columns, m, weights.front(), sums);
    std::vector<float> parts(weights.size() * m * run.count);
    cut_into_parts(columns, m, run.count, weights.size(), parts.data());
    for (const PairOfParts& pass : passes_of(*precision)) {
        multiply_pass({parts.data() + pass.a * m * run.count, run.count}, m, weights[pass.b], sums);
        sums.accumulate = true;
    }
}

}  // namespace

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
    require_runs(sum_tile);
    if (k == 0) fill_with_zeros(c, c_row_elements, m, n);
    for (std::size_t first = 0; first < k; first += sum_tile) {
        const Run run{first, std::min(sum_tile, k - first)};
        multiply_run(run, a, m, weights_of(run, b, n, precision), precision, {c, c_row_elements});
    }
}

FloatRuns::FloatRuns(const FloatMatrix& b, std::size_t k, std::size_t n, std::size_t sum_tile,
                     std::optional<Precision> precision)
    : k_(k), n_(n), sum_tile_(sum_tile), precision_(precision) {
    require_runs(sum_tile);
    for (std::size_t first = 0; first < k; first += sum_tile) {
        runs_.push_back(weights_of({first, std::min(sum_tile, k - first)}, b, n, precision));
    }
}

void FloatRuns::multiply(const FloatMatrix& a, std::size_t m, float* c, std::size_t c_row_elements) const {
    if (k_ == 0) fill_with_zeros(c, c_row_elements, m, n_);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const std::size_t first = i * sum_tile_;
        multiply_run({first, std::min(sum_tile_, k_ - first)}, a, m, runs_[i], precision_,
                     {c, c_row_elements});
    }
}

}  // namespace systole::math

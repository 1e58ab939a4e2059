#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace systole::math {

/// How much of a float32 operand a product of matrices keeps: an operand is cut into parts of bfloat16, each
/// the nearest to what the parts before it left over.
enum class Precision : std::uint8_t {
    Default,  ///< one part
    High,     ///< two parts, three passes
    Highest,  ///< three parts, six passes
};

inline constexpr std::array<std::string_view, 3> precision_names{"default", "high", "highest"};

constexpr const auto& names_of(Precision) {
    return precision_names;
}

/// The parts of an operand.
constexpr std::size_t parts_of(Precision precision) {
    return static_cast<std::size_t>(precision) + 1;
}

/// A part of the one operand and a part of the other.
struct PairOfParts {
    std::size_t a = 0;
    std::size_t b = 0;
};
/// The passes of a product, those with the smallest products first.
std::span<const PairOfParts> passes_of(Precision precision);

/// A matrix of float32 in memory, row-major.
struct FloatMatrix {
    const float* data = nullptr;
    std::size_t row_elements = 0;  ///< from a row to the next
};

/// Cuts a matrix into parts: `out` has one matrix of rows x columns without gaps for each part, one behind
/// the other. A number whose first part is infinite or no number has zeros for its other parts.
void cut_into_parts(const FloatMatrix& matrix, std::size_t rows, std::size_t columns, std::size_t parts,
                    float* out);

/// The weights of a pass (k x n), in the order in which kernels read them: panels of columns, the last one
/// filled up with zeros.
class FloatWeights {
public:
    static constexpr std::size_t panel_columns = 32;

    /// Elements must be settled, and bfloat16 unless the array multiplies float32: they are not rounded here.
    FloatWeights(const FloatMatrix& weights, std::size_t k, std::size_t n);

    std::size_t k() const { return k_; }
    std::size_t n() const { return n_; }
    /// k rows of `panel_columns` elements without gaps.
    const float* panel(std::size_t index) const { return values_.data() + index * k_ * panel_columns; }

private:
    std::size_t k_;
    std::size_t n_;
    std::vector<float> values_;
};

/// The sums of a pass: m x n float32, row-major.
struct FloatSums {
    float* data = nullptr;
    std::size_t row_elements = 0;  ///< from a row to the next
    bool accumulate = false;       ///< a sum is added to what is there, else it replaces it
};

/// One pass of a systolic array over m rows of k elements: a column's sum begins at 0 and becomes
/// fma(a, weight, sum) for each k in order, rounded once and settled. Elements as for the weights.
void multiply_pass(const FloatMatrix& a, std::size_t m, const FloatWeights& weights, const FloatSums& sums);

/// The definition of `multiply_pass`, an operation at a time: what kernels for a processor must equal.
void multiply_pass_portable(const FloatMatrix& a, std::size_t m, const FloatWeights& weights,
                            const FloatSums& sums);

/// The product (m x n) of float32 operands a (m x k) and b (k x n) as an array of `sum_tile` rows computes
/// it: k is cut into runs of `sum_tile`; each run is one pass for each pair of parts, the pairs with the
/// smallest products first; the sums of passes are added in order. k = 0 gives zeros. Throws std::logic_error
/// if `sum_tile` is 0.
struct FloatProduct {
    FloatMatrix a;
    FloatMatrix b;
    float* c = nullptr;
    std::size_t c_row_elements = 0;
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t k = 0;
    std::size_t sum_tile = 0;
    Precision precision = Precision::Default;
};
void multiply_in_order(const FloatProduct& product);

/// The matrix B of `multiply_in_order`, cut into runs and parts once for many matrices A.
class FloatRuns {
public:
    /// Without a precision, all of both operands is multiplied, in one pass for each run; B must be settled
    /// then, and A. Throws std::logic_error if `sum_tile` is 0.
    FloatRuns(const FloatMatrix& b, std::size_t k, std::size_t n, std::size_t sum_tile,
              std::optional<Precision> precision);

    /// c (m x n) = a (m x k) * B.
    void multiply(const FloatMatrix& a, std::size_t m, float* c, std::size_t c_row_elements) const;

private:
    std::size_t k_;
    std::size_t n_;
    std::size_t sum_tile_;
    std::optional<Precision> precision_;
    std::vector<std::vector<FloatWeights>> runs_;  ///< by run and part
};

}  // namespace systole::math

#include "hw/math/gemm.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "hw/math/gemm_kernels.h"

namespace systole::math {
namespace {

/// Adds one product and the time of a scope to the statistics, if given.
class Measurement {
public:
    Measurement(GemmStatistics* statistics, const GemmProblem& problem) : statistics_(statistics) {
        if (statistics_ == nullptr) return;
        ++statistics_->calls;
        statistics_->macs += std::uint64_t{problem.m} * problem.n * problem.k;
        start_ = std::chrono::steady_clock::now();
    }
    ~Measurement() {
        if (statistics_ == nullptr) return;
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
        statistics_->seconds += elapsed.count();
    }
    Measurement(const Measurement&) = delete;
    Measurement& operator=(const Measurement&) = delete;

private:
    GemmStatistics* statistics_;
    std::chrono::steady_clock::time_point start_;
};

/// Products so small that a call of oneDNN costs more than our whole computation: up to three times as much
/// (tests/bench).
bool is_tiny(const GemmProblem& problem) {
    return problem.n <= 16 && problem.k <= 32 && problem.m <= 2048 / problem.k;
}

/// Handles products with m, n or k of 0; returns whether this is one.
bool finish_empty(const GemmProblem& problem) {
    if (problem.m != 0 && problem.n != 0 && problem.k != 0) return false;
    if (!problem.accumulate && problem.n != 0) {
        for (std::size_t i = 0; i < problem.m; ++i) std::fill_n(problem.c + i * problem.ldc, problem.n, 0);
    }
    return true;
}

template <typename Element>
std::uint32_t sum_of_row(const std::uint8_t* row, std::size_t count) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Element element = 0;
        std::memcpy(&element, row + i * sizeof element, sizeof element);
        sum += static_cast<std::uint32_t>(std::int32_t{element});
    }
    return sum;
}

std::uint32_t sum_of_row(const std::uint8_t* row, DataType type, std::size_t count) {
    switch (type) {
        case DataType::Uint8:
            return sum_of_row<std::uint8_t>(row, count);
        case DataType::Int8:
            return sum_of_row<std::int8_t>(row, count);
        case DataType::Uint16:
            return sum_of_row<std::uint16_t>(row, count);
        case DataType::Int16:
            return sum_of_row<std::int16_t>(row, count);
        case DataType::Int32:
        case DataType::Bfloat16:
        case DataType::Float32:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    throw std::logic_error("a row of a format that has no sum");
}

/// sum of a * (b - zero_point) = sum of a * b - zero_point * sum of a.
void subtract_zero_point(const GemmProblem& problem) {
    if (problem.b.zero_point == 0) return;
    const auto zero_point = static_cast<std::uint32_t>(problem.b.zero_point);
    for (std::size_t i = 0; i < problem.m; ++i) {
        const std::uint8_t* const row = problem.a.data + i * problem.a.row_bytes;
        const std::uint32_t excess = zero_point * sum_of_row(row, problem.a.type, problem.k);
        std::int32_t* const sums = problem.c + i * problem.ldc;
        for (std::size_t j = 0; j < problem.n; ++j) {
            sums[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[j]) - excess);
        }
    }
}

void multiply(const GemmProblem& problem, GemmStatistics* statistics) {
    if (problem.a.zero_point != 0) throw std::logic_error("a product whose first operand has a zero point");
    if (finish_empty(problem)) return;
    const bool narrow = bytes_of(problem.a.type) == 1 && problem.b.type == DataType::Int8;
    const bool by_onednn = narrow && !is_tiny(problem) && onednn_is_exact();
    const Measurement measurement(statistics, problem);
    if (by_onednn) {
        gemm_onednn(problem);
    } else {
        gemm_portable(problem);
    }
    subtract_zero_point(problem);
}

}  // namespace

void multiply_accumulate(const std::uint8_t* a, std::size_t lda, bool a_signed, const std::int8_t* b,
                         std::size_t ldb, std::int32_t* c, std::size_t ldc, std::size_t m, std::size_t n,
                         std::size_t k, bool accumulate, GemmStatistics* statistics) {
    multiply({.a = {a, lda, a_signed ? DataType::Int8 : DataType::Uint8},
              .b = {reinterpret_cast<const std::uint8_t*>(b), ldb, DataType::Int8},
              .c = c,
              .ldc = ldc,
              .m = m,
              .n = n,
              .k = k,
              .accumulate = accumulate},
             statistics);
}

void multiply_accumulate(const GemmOperand& a, const GemmOperand& b, std::int32_t* c, std::size_t ldc,
                         std::size_t m, std::size_t n, std::size_t k, bool accumulate,
                         GemmStatistics* statistics) {
    multiply({.a = a, .b = b, .c = c, .ldc = ldc, .m = m, .n = n, .k = k, .accumulate = accumulate},
             statistics);
}

}  // namespace systole::math

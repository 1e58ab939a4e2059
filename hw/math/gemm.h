#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"

namespace systole::math {

/// Totals over matrix products. The caller passes an object to have the products measured.
struct GemmStatistics {
    std::uint64_t calls = 0;
    std::uint64_t macs = 0;
    double seconds = 0.0;  ///< wall time

    GemmStatistics& operator+=(const GemmStatistics& other) {
        calls += other.calls;
        macs += other.macs;
        seconds += other.seconds;
        return *this;
    }
};

/// C (m x n) = A (m x k) * B (k x n), or C += A * B with `accumulate`. All are row major; lda, ldb and ldc
/// are the elements from a row to the next, at least k, n and n. Sums wrap around in 32-bit two's complement;
/// every kernel gives the same bits.
///
/// A's elements are unsigned or, with `a_signed`, two's complement bytes. k = 0 gives zeros (or adds
/// nothing).
void multiply_accumulate(const std::uint8_t* a, std::size_t lda, bool a_signed, const std::int8_t* b,
                         std::size_t ldb, std::int32_t* c, std::size_t ldc, std::size_t m, std::size_t n,
                         std::size_t k, bool accumulate, GemmStatistics* statistics = nullptr);

/// A matrix operand of 8-bit or 16-bit integers; 16-bit integers are little endian, at any alignment.
struct GemmOperand {
    const std::uint8_t* data = nullptr;
    std::size_t row_bytes = 0;  ///< from a row to the next
    DataType type = DataType::Uint8;
    std::int32_t zero_point = 0;  ///< of B: subtracted from each of its elements; of A it must be 0
};

/// The same for operands of 8 or 16 bits in any combination. Throws std::logic_error for other formats. B's
/// zero point is subtracted from the sums, times the sum of the row of A.
void multiply_accumulate(const GemmOperand& a, const GemmOperand& b, std::int32_t* c, std::size_t ldc,
                         std::size_t m, std::size_t n, std::size_t k, bool accumulate,
                         GemmStatistics* statistics = nullptr);

}  // namespace systole::math

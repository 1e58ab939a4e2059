#pragma once

#include <cstddef>
#include <cstdint>

namespace systole {

/// The width of the sums that products are computed with.
inline constexpr std::uint32_t most_sum_bits = 32;

/// The number of `bits` bits, in two's complement, with the low bits of the sum; 1 to 32 bits.
inline std::int32_t wrapped_sum(std::int32_t sum, std::uint32_t bits) {
    const std::uint32_t unused = most_sum_bits - bits;
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) << unused) >> unused;
}

/// The same for m x n sums, `stride` elements from a row to the next. Additions that wrap may wrap once,
/// after the last one: the low bits of a sum depend on low bits alone.
inline void wrap_sums(std::int32_t* sums, std::size_t stride, std::size_t m, std::size_t n,
                      std::uint32_t bits) {
    if (bits == most_sum_bits) return;
    for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t column = 0; column < n; ++column) {
            std::int32_t& sum = sums[row * stride + column];
            sum = wrapped_sum(sum, bits);
        }
    }
}

}  // namespace systole

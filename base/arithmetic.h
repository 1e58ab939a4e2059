#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

// Exact arithmetic of unsigned integers: sizes, addresses, cycles.
namespace systole {

// NOLINTNEXTLINE(modernize-use-using): __extension__ goes with typedef alone.
__extension__ typedef unsigned __int128 Uint128;  // holds the product of two 64-bit numbers

/// a / b rounded up, without the overflow of (a + b - 1) / b.
template <std::unsigned_integral A, std::unsigned_integral B>
constexpr std::common_type_t<A, B> divide_up(A a, B b) {
    return static_cast<std::common_type_t<A, B>>(a / b + (a % b == 0 ? 0 : 1));
}

/// The smallest multiple of `step` that is at least `value`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return divide_up(value, step) * step;
}

/// a + b, or the largest 64-bit number if the sum exceeds it.
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

/// a * b, or the largest 64-bit number if the product exceeds it.
constexpr std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

/// The number in 64 bits. Throws std::overflow_error with the message if it does not fit.
constexpr std::uint64_t to_64_bits(Uint128 number, const char* message) {
    if (number > std::numeric_limits<std::uint64_t>::max()) throw std::overflow_error(message);
    return static_cast<std::uint64_t>(number);
}

/// a * b / divisor rounded down; the product is exact, in 128 bits.
constexpr Uint128 multiply_divide(std::uint64_t a, std::uint64_t b, std::uint64_t divisor) {
    return Uint128{a} * b / divisor;
}

/// The same, rounded up.
constexpr Uint128 multiply_divide_up(std::uint64_t a, std::uint64_t b, std::uint64_t divisor) {
    const Uint128 product = Uint128{a} * b;
    return product / divisor + (product % divisor == 0 ? 0 : 1);
}

}  // namespace systole

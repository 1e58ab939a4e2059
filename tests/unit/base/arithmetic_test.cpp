#include "base/arithmetic.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace systole {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("Divisions round up without overflow", "[hw][base][arithmetic]") {
    for (std::uint64_t a = 0; a < 50; ++a) {
        for (std::uint64_t b = 1; b < 20; ++b) {
            const std::uint64_t quotient = divide_up(a, b);
            CHECK(quotient * b >= a);
            CHECK((quotient == 0 || (quotient - 1) * b < a));
            CHECK(round_up(a, b) == quotient * b);
        }
    }
    CHECK(divide_up(largest, std::uint64_t{2}) == largest / 2 + 1);
    CHECK(divide_up(largest, largest) == 1);
    static_assert(std::is_same_v<decltype(divide_up(7U, 2U)), unsigned>);
    static_assert(std::is_same_v<decltype(divide_up(7U, std::uint64_t{2})), std::uint64_t>);
}

TEST_CASE("Sums and products saturate", "[hw][base][arithmetic]") {
    CHECK(saturating_sum(3, 4) == 7);
    CHECK(saturating_sum(largest - 1, 1) == largest);
    CHECK(saturating_sum(largest, 1) == largest);
    CHECK(saturating_sum(largest, largest) == largest);
    CHECK(saturating_product(3, 4) == 12);
    CHECK(saturating_product(largest, 0) == 0);
    CHECK(saturating_product(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1) ==
          largest - ((std::uint64_t{1} << 32) - 1));
    CHECK(saturating_product(std::uint64_t{1} << 32, std::uint64_t{1} << 32) == largest);
}

TEST_CASE("Products are divided with all their bits", "[hw][base][arithmetic]") {
    CHECK(multiply_divide(largest, largest, largest) == largest);
    CHECK(multiply_divide_up(largest, largest, largest) == largest);
    CHECK(multiply_divide(7, 3, 2) == 10);
    CHECK(multiply_divide_up(7, 3, 2) == 11);
    CHECK(multiply_divide_up(8, 3, 2) == 12);
    CHECK(to_64_bits(multiply_divide(largest, 2, 2), "") == largest);
    CHECK_THROWS_WITH(to_64_bits(multiply_divide(largest, 2, 1), "too late"), "too late");
    CHECK_THROWS_AS(to_64_bits(multiply_divide(largest, 2, 1), ""), std::overflow_error);
}

}  // namespace
}  // namespace systole

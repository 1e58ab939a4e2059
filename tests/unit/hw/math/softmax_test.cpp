// The fixed-point functions of hw/math/softmax.h against real numbers.
#include "hw/math/softmax.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace systole;

TEST_CASE("A reciprocal has 28 right bits", "[math]") {
    for (const std::int32_t x : {0, 1, 12345678, 1 << 29, 1 << 30, 1987654321, INT32_MAX}) {
        CAPTURE(x);
        const double real = std::min(std::ldexp(1.0, 31) / (1.0 + std::ldexp(x, -31)), 2147483647.0);
        CHECK(std::abs(math::reciprocal_of_one_plus(x) - real) <= 8.0);
    }
}

TEST_CASE("Shares of a softmax are those of the sum", "[math]") {
    // Exponentials of 1/2, 1/4 and 1/4, and of 1/2 and 1/8.
    const auto shares = [](const std::vector<std::int32_t>& exponentials) {
        std::int32_t sum = 0;
        for (const std::int32_t each : exponentials) sum += math::softmax_summand(each);
        std::vector<std::int32_t> all;
        for (const std::int32_t each : exponentials) all.push_back(math::SoftmaxShare(sum).of(each));
        return all;
    };
    CHECK(shares({1 << 30, 1 << 29, 1 << 29}) == std::vector<std::int32_t>{128, 64, 64});
    CHECK(shares({1 << 30, 1 << 28}) == std::vector<std::int32_t>{205, 51});
    CHECK(shares({INT32_MAX}) == std::vector<std::int32_t>{256});
    CHECK(shares({0, 0}) == std::vector<std::int32_t>{0, 0});
}

#include <catch2/catch.hpp>
#include <limits>
#include <stdexcept>

#include "base/cycle.h"

namespace systole {
namespace {

TEST_CASE("Transfers whose parts do not fit 64 bits end in their cycle", "[hw][base][rate]") {
    constexpr std::uint64_t big = std::uint64_t{1} << 40U;
    const Rate rate{big, big - 1};
    const ExactTime end = rate.after({3, big - 1}, big * 8 + 1);
    // (2^43 + 1)(2^40 - 1) + 2^40 - 1 parts of 2^40: 2^43 - 7 whole cycles and 2^40 - 2 parts.
    CHECK(end.whole == 3 + 8 * big - 8 + 1);
    CHECK(end.parts == big - 2);
    const Rate slow{1, std::numeric_limits<std::uint64_t>::max()};
    CHECK(slow.after({}, 1).whole == std::numeric_limits<std::uint64_t>::max());
    CHECK_THROWS_AS(slow.after({1, 0}, 1), std::overflow_error);
    CHECK_THROWS_AS(slow.after({}, 2), std::overflow_error);
}

TEST_CASE("A rate is bandwidth over clock in lowest terms", "[hw][base][rate]") {
    CHECK(make_rate(34'000'000'000, 700'000'000) == Rate{340, 7});
    CHECK(make_rate(700'000'000, 700'000'000) == Rate{1, 1});
    CHECK(make_rate(3, 700'000'000) == Rate{3, 700'000'000});
}

TEST_CASE("Transfers one after the other lose no part of a cycle", "[hw][base][rate]") {
    const Rate rate{3, 2};
    ExactTime one_by_one;
    for (int i = 0; i < 1000; ++i) one_by_one = rate.after(one_by_one, 1);
    CHECK(one_by_one == rate.after({}, 1000));
    CHECK(one_by_one == ExactTime{666, 2});
}

}  // namespace
}  // namespace systole

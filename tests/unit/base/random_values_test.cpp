#include "base/random_values.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace systole;

TEST_CASE("SplitMix64 gives its published numbers", "[compiler][graph]") {
    SplitMix64 random(1234567);
    CHECK(random.next() == 6457827717110365317U);
    CHECK(random.next() == 3203168211198807973U);
    CHECK(random.next() == 9817491932198370423U);
}

TEST_CASE("Random values fill their range evenly, and are the same from the same seed", "[compiler][graph]") {
    constexpr std::size_t count = 100'000;
    constexpr float limit = 0.25F;
    std::vector<float> values(count);
    fill_random(values, limit, 7);

    constexpr std::size_t parts = 10;
    std::array<std::size_t, parts> histogram{};
    for (const float value : values) {
        REQUIRE(std::abs(value) < limit);
        ++histogram.at(static_cast<std::size_t>((value + limit) / (2 * limit) * parts));
    }
    // Ten standard deviations of a binomial distribution: this seed is no exception.
    const double spread = 10 * std::sqrt(0.1 * 0.9 * count);
    for (const std::size_t each : histogram)
        CHECK(std::abs(static_cast<double>(each) - count / 10.0) < spread);

    std::vector<float> again(count);
    fill_random(again, limit, 7);
    CHECK(again == values);
    fill_random(again, limit, 8);
    CHECK(std::ranges::mismatch(again, values).in1 - again.begin() < 3);
}

TEST_CASE("Each name and each seed has values of its own", "[compiler][graph]") {
    CHECK(seed_for(1, "a") != seed_for(1, "b"));
    CHECK(seed_for(1, "a") != seed_for(2, "a"));
    CHECK(seed_for(1, "a") == seed_for(1, "a"));
    CHECK(seed_for(1, "ab") != seed_for(1, "ba"));
}

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "sim/run/images.h"
#include "sim/run/input/images.h"

using namespace systole;

TEST_CASE("Random pixels take every value about as often", "[run]") {
    const run::NamedImages made = run::random_images({8, 16, 3}, 200, 1, false);
    CHECK(made.images.count == 200);
    CHECK(made.images.height == 8);
    CHECK(made.images.width == 16);
    CHECK(made.images.channels == 3);
    CHECK(made.in_files == 200);
    REQUIRE(made.images.pixels() != nullptr);
    REQUIRE(made.images.pixels()->size() == 200 * 8 * 16 * 3);
    std::array<int, 256> histogram{};
    for (const std::uint8_t pixel : *made.images.pixels()) ++histogram.at(pixel);
    // 300 each; their standard deviation is 17.
    CHECK(*std::ranges::min_element(histogram) > 200);
    CHECK(*std::ranges::max_element(histogram) < 400);
}

TEST_CASE("Networks of 16 bits get real numbers between -1 and 1", "[run]") {
    const run::NamedImages made = run::random_images({1, 1, 500}, 3, 1, true);
    REQUIRE(made.images.floats() != nullptr);
    const auto [least, most] = std::ranges::minmax(*made.images.floats());
    CHECK(least > -1.0F);
    CHECK(least < -0.98F);
    CHECK(most < 1.0F);
    CHECK(most > 0.98F);
}

TEST_CASE("Random images follow from their seed", "[run]") {
    const auto pixels = [](std::uint64_t seed, std::uint64_t count) {
        return *run::random_images({1, 1, 64}, count, seed, false).images.pixels();
    };
    CHECK(pixels(1, 2) == pixels(1, 2));
    CHECK(pixels(1, 2) != pixels(2, 2));
    const auto two = pixels(1, 2);
    CHECK(std::equal(two.begin(), two.end(), pixels(1, 3).begin()));
}

TEST_CASE("Random images that exceed the memory limit are rejected", "[run]") {
    CHECK_THROWS_AS(run::random_images({1000, 1000, 3}, 100'000, 1, false), input::InputError);
    CHECK_THROWS_AS(run::random_images({1, 1, 1}, std::uint64_t{1} << 32U, 1, false), input::InputError);
}

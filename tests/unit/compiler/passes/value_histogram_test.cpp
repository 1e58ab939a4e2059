#include "compiler/passes/value_histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "compiler/ir/encoding.h"
#include "tests/support/random_runs.h"

using namespace systole;
using ir::Range;
using passes::ValueHistogram;

namespace {

constexpr std::uint32_t steps = 255;

/// Numbers of both signs or of one, most of them small, at times with a few far outside.
std::vector<float> drawn_numbers(std::mt19937& random) {
    std::normal_distribution<float> normal(0.0F, std::ldexp(1.0F, static_cast<int>(random() % 40) - 20));
    const bool is_positive = random() % 2 == 0;
    std::vector<float> numbers(20'000);
    for (float& number : numbers) number = is_positive ? std::max(normal(random), 0.0F) : normal(random);
    const std::size_t outliers = random() % 3;
    for (std::size_t i = 0; i < outliers; ++i) numbers[random() % numbers.size()] *= 30.0F;
    return numbers;
}

Range range_of(std::span<const float> numbers) {
    Range range;
    for (const float number : numbers) {
        range = {std::min(range.minimum, number), std::max(range.maximum, number)};
    }
    return range;
}

ValueHistogram histogram_of(std::span<const float> numbers) {
    ValueHistogram histogram;
    histogram.add(numbers);
    return histogram;
}

/// The mean squared error of numbers that are stored as bytes of this range.
double error_of(std::span<const float> numbers, const Range& range) {
    const ir::Encoding encoding = ir::encoding_of(range);
    double sum = 0.0;
    for (const float number : numbers) {
        const double error = encoding.real(encoding.stored(number)) - number;
        sum += error * error;
    }
    return sum / static_cast<double>(numbers.size());
}

}  // namespace

TEST_CASE("A range without outliers cuts at most the given share of numbers", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const std::vector<float> numbers = drawn_numbers(random);
        const Range all = range_of(numbers);
        constexpr double share = 1e-3;
        const Range range = histogram_of(numbers).without_outliers(all, share);
        const auto above = static_cast<double>(
            std::ranges::count_if(numbers, [&](float number) { return number > range.maximum; }));
        const auto below = static_cast<double>(
            std::ranges::count_if(numbers, [&](float number) { return number < range.minimum; }));
        const double most = share * static_cast<double>(numbers.size());
        CHECK(above <= most);
        CHECK(below <= most);
        // The next smaller bins would cut more: a bin is at most 1/64 of its numbers wide.
        constexpr float bin = 65.0F / 64.0F;
        const auto more = [&](auto is_beyond) {
            return static_cast<double>(std::ranges::count_if(numbers, is_beyond)) > most;
        };
        if (all.maximum > 0.0F) CHECK(more([&](float number) { return number * bin >= range.maximum; }));
        if (all.minimum < 0.0F) CHECK(more([&](float number) { return number * bin <= range.minimum; }));
    }
}

TEST_CASE("A few numbers of a sign are not cut to nothing", "[compiler][passes]") {
    constexpr double share = 1e-4;
    std::vector<float> sparse(160'000, 0.0F);
    std::fill_n(sparse.begin(), 10, 1.0F);
    CHECK(histogram_of(sparse).without_outliers({0.0F, 1.0F}, share) == Range{0.0F, 1.0F});
    for (float& number : sparse) number = -number;
    CHECK(histogram_of(sparse).without_outliers({-1.0F, 0.0F}, share) == Range{-1.0F, 0.0F});
    // Next to many numbers of the other sign, they take as many steps at most.
    std::vector<float> lone(160'000, 2.0F);
    lone.front() = -1e6F;
    CHECK(histogram_of(lone).without_outliers({-1e6F, 2.0F}, share) == Range{-2.0F, 2.0F});
    lone.front() = -0.5F;
    CHECK(histogram_of(lone).without_outliers({-0.5F, 2.0F}, share) == Range{-0.5F, 2.0F});

    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        std::vector<float> numbers(40'000, 0.0F);
        const std::size_t others = random() % 8;
        for (std::size_t i = 0; i < others; ++i) {
            const float size = std::ldexp(1.0F, static_cast<int>(random() % 20) - 10);
            numbers[random() % numbers.size()] = random() % 2 == 0 ? size : -size;
        }
        const Range all = range_of(numbers);
        const Range range = histogram_of(numbers).without_outliers(all, share);
        CHECK((range.maximum > 0.0F) == (all.maximum > 0.0F));
        CHECK((range.minimum < 0.0F) == (all.minimum < 0.0F));
        CHECK(range.maximum <= all.maximum);
        CHECK(range.minimum >= all.minimum);
    }
}

TEST_CASE("The range with the least error has no more than any part of the range", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const std::vector<float> numbers = drawn_numbers(random);
        const Range all = range_of(numbers);
        const double found = error_of(numbers, histogram_of(numbers).with_least_error(all, steps));
        // The rounding is estimated, so another range may be a little better.
        constexpr double allowed = 1.05;
        for (float part = 0.02F; part <= 1.0F; part += 0.02F) {
            const Range other{all.minimum * part, all.maximum * part};
            CHECK(found <= allowed * error_of(numbers, other));
        }
    }
}

TEST_CASE("The range behind which a function's results have the least error is found", "[compiler][passes]") {
    const std::vector<std::function<float(float)>> functions{
        [](float x) { return 1.0F / (1.0F + std::exp(-x)); }, [](float x) { return std::tanh(x); },
        [](float x) { return x / (1.0F + std::exp(-x)); }, [](float x) { return x < 0.0F ? 0.01F * x : x; },
        [](float x) { return std::exp(x / 8.0F); }};
    const auto error_of_results = [](std::span<const float> numbers, const Range& range,
                                     const auto& function) {
        const ir::Encoding encoding = ir::encoding_of(range);
        double sum = 0.0;
        for (const float number : numbers) {
            const auto stored = static_cast<float>(encoding.real(encoding.stored(number)));
            sum += std::pow(double{function(stored)} - double{function(number)}, 2);
        }
        return sum;
    };
    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        std::mt19937 random(seed);
        std::vector<float> numbers = drawn_numbers(random);
        const Range drawn = range_of(numbers);
        // Most numbers are far down, where a sigmoid is flat, and few are where it is steep.
        const float scale = 20.0F / std::max(drawn.maximum, -drawn.minimum);
        for (float& number : numbers) number = number * scale - static_cast<float>(random() % 4);
        const Range all = range_of(numbers);
        for (std::size_t i = 0; i < functions.size(); ++i) {
            INFO("seed " << seed << ", function " << i);
            const ValueHistogram histogram = histogram_of(numbers);
            const double found =
                error_of_results(numbers, histogram.with_least_error(all, steps, functions[i]), functions[i]);
            constexpr double allowed = 1.15;
            CHECK(found <= allowed * error_of_results(numbers, all, functions[i]));
            CHECK(found <=
                  allowed * error_of_results(numbers, histogram.with_least_error(all, steps), functions[i]));
        }
    }
}

TEST_CASE("A function without finite results has no say in a range", "[compiler][passes]") {
    std::mt19937 random(3);
    const std::vector<float> numbers = drawn_numbers(random);
    const Range all = range_of(numbers);
    const ValueHistogram histogram = histogram_of(numbers);
    const std::vector<std::function<float(float)>> functions{[](float x) { return std::log(-std::abs(x)); },
                                                             [](float /*x*/) { return 1.0F; }};
    for (const std::function<float(float)>& function : functions) {
        CHECK(histogram.with_least_error(all, steps, function) == histogram.with_least_error(all, steps));
    }
}

TEST_CASE("One huge number does not hide the others from a histogram", "[compiler][passes]") {
    std::mt19937 random(1);
    std::vector<float> numbers = drawn_numbers(random);
    const Range before = range_of(numbers);
    numbers.front() = 3e38F;
    const Range range = histogram_of(numbers).without_outliers(range_of(numbers), 1e-4);
    CHECK(range.maximum <= before.maximum);
    CHECK(range.maximum > before.maximum / 64);
    CHECK(range.minimum >= before.minimum);
}

TEST_CASE("Histograms of parts add up to that of the whole, in any order", "[compiler][passes]") {
    std::mt19937 random(2);
    const std::vector<float> numbers = drawn_numbers(random);
    const std::span<const float> all = numbers;
    const std::size_t cut = 7'001;
    ValueHistogram forwards = histogram_of(all.first(cut));
    forwards.add(histogram_of(all.subspan(cut)));
    ValueHistogram backwards = histogram_of(all.subspan(cut));
    backwards.add(histogram_of(all.first(cut)));
    const Range range = range_of(numbers);
    const ValueHistogram whole = histogram_of(all);
    for (const ValueHistogram& other : {forwards, backwards}) {
        CHECK(other.without_outliers(range, 1e-3) == whole.without_outliers(range, 1e-3));
        CHECK(other.with_least_error(range, steps) == whole.with_least_error(range, steps));
    }
}

TEST_CASE("Zeros and numbers next to 0 have a range", "[compiler][passes]") {
    for (const float number : {0.0F, 1e-42F, -1e-42F, 3e38F, -3e38F}) {
        const std::vector<float> numbers(100, number);
        const Range all = range_of(numbers);
        for (const Range& range : {histogram_of(numbers).without_outliers(all, 1e-4),
                                   histogram_of(numbers).with_least_error(all, steps)}) {
            INFO(number);
            CHECK(range.minimum >= all.minimum);
            CHECK(range.maximum <= all.maximum);
            if (std::abs(number) > 1.0F) CHECK(range == all);
        }
    }
}

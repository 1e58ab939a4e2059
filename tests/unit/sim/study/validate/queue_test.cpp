#include "sim/study/validate/queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/random_values.h"

namespace systole::validate {
namespace {

/// Lindley's recursion: what each of many customers waits.
std::vector<double> simulated_responses(double load, std::size_t customers, std::uint64_t seed) {
    SplitMix64 random(seed);
    std::vector<double> responses;
    double wait = 0.0;
    for (std::size_t i = 0; i < customers; ++i) {
        responses.push_back(wait + 1.0);
        const double uniform = (static_cast<double>(random.next() >> 11U) + 0.5) / 9007199254740992.0;
        const double until_next = -std::log(uniform) / load;
        wait = std::max(0.0, wait + 1.0 - until_next);
    }
    return responses;
}

TEST_CASE("An empty queue's customer is served at once", "[sim][validate]") {
    // One in a hundred finds another: at a load of 1 % the share without waiting is 99 %.
    CHECK(response_time(0.0099, 0.99) == 1.0);
    CHECK(response_time(0.02, 0.99) > 1.0);
}

TEST_CASE("Within the first service time, the wait is known by hand", "[sim][validate]") {
    // P(wait <= t) = (1 - load) e^(load t) for t up to one service time.
    const double load = 0.3;
    const double percentile = 0.8;
    CHECK(response_time(load, percentile) ==
          Approx(1.0 + std::log(percentile / (1.0 - load)) / load).margin(1e-3));
}

TEST_CASE("Response times are those of a simulated queue", "[sim][validate]") {
    constexpr std::uint64_t seed = 20170626;
    const double load = GENERATE(0.2, 0.5, 0.8, 0.9);
    INFO("seed " << seed << ", load " << load);
    std::vector<double> responses = simulated_responses(load, 4'000'000, seed);
    const std::size_t at = responses.size() / 100 * 99;
    std::nth_element(responses.begin(), responses.begin() + static_cast<std::ptrdiff_t>(at), responses.end());
    CHECK(response_time(load, 0.99) == Approx(responses[at]).epsilon(0.02));
}

TEST_CASE("The largest load keeps the limit, and the next does not", "[sim][validate]") {
    const double load = largest_load(6.0, 0.99);
    CHECK(response_time(load, 0.99) <= 6.0);
    CHECK(response_time(load + 0.001, 0.99) > 6.0);
    CHECK(largest_load(0.9, 0.99) == 0.0);
}

TEST_CASE("A queue that never empties has no response time", "[sim][validate]") {
    CHECK_THROWS_AS(response_time(1.0, 0.99), std::invalid_argument);
    CHECK_THROWS_AS(response_time(0.0, 0.99), std::invalid_argument);
}

}  // namespace
}  // namespace systole::validate

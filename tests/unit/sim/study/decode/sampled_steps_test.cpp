#include "sim/study/decode/sampled_steps.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/support/random_runs.h"

using namespace systole::decode;

namespace {

/// Samples steps of these cycles, each with its number as a second figure.
SampledSteps sampled(const std::vector<double>& cycles, Lines lines) {
    lines.count = cycles.size();
    return sample_steps(lines, [&](std::span<const std::size_t> steps) {
        std::vector<Figures> figures;
        for (const std::size_t step : steps) figures.push_back({cycles.at(step), static_cast<double>(step)});
        return figures;
    });
}

std::size_t simulated(const SampledSteps& sampled) {
    return static_cast<std::size_t>(std::ranges::count(sampled.simulated, true));
}

}  // namespace

TEST_CASE("Steps on a straight line are simulated at its ends and in its middle", "[decode]") {
    std::vector<double> cycles;
    for (int step = 0; step < 101; ++step) cycles.push_back(1000.0 + 3.0 * step);
    const SampledSteps steps = sampled(cycles, {.tolerance = 0.0});
    CHECK(simulated(steps) == 3);
    CHECK((steps.simulated[0] && steps.simulated[50] && steps.simulated[100]));
    CHECK(steps.largest_difference == 0.0);
    for (std::size_t step = 0; step < cycles.size(); ++step) {
        CHECK(steps.steps[step][0] == Approx(cycles[step]));
        CHECK(steps.steps[step][1] == Approx(static_cast<double>(step)));
    }
}

TEST_CASE("Few steps, and all with a tolerance below 0, are simulated", "[decode]") {
    for (const std::size_t count : {1U, 2U, 3U})
        CHECK(simulated(sampled(std::vector<double>(count, 5.0), {})) == count);
    CHECK(simulated(sampled(std::vector<double>(40, 5.0), {.tolerance = -1.0})) == 40);
}

TEST_CASE("A line that breaks is two lines", "[decode]") {
    // Each line is straight, and a middle of both would be on the line between their ends.
    std::vector<double> cycles(64, 100.0);
    for (std::size_t step = 16; step < 64; ++step) cycles[step] = 200.0;
    for (std::size_t step = 48; step < 64; ++step) cycles[step] = 300.0;
    const SampledSteps steps = sampled(cycles, {.breaks = {16, 48}, .tolerance = 0.001});
    CHECK(simulated(steps) == 9);
    for (std::size_t step = 0; step < cycles.size(); ++step) CHECK(steps.steps[step][0] == cycles[step]);
}

TEST_CASE("Simulated steps are exact, and one jump of any line is found", "[decode]") {
    std::mt19937 random(20261201);
    for (std::uint32_t run = 0; run < systole::tests::random_share(200); ++run) {
        const auto count = std::uniform_int_distribution<std::size_t>(2, 200)(random);
        const auto jump = std::uniform_int_distribution<std::size_t>(1, count - 1)(random);
        const double slope = std::uniform_real_distribution<double>(0.0, 2.0)(random);
        const double height = std::uniform_real_distribution<double>(-400.0, 400.0)(random);
        std::vector<double> cycles;
        for (std::size_t step = 0; step < count; ++step)
            cycles.push_back(1000.0 + slope * static_cast<double>(step) + (step >= jump ? height : 0.0));
        INFO("run " << run << ": " << count << " steps, at " << jump << " by " << height);
        constexpr double tolerance = 0.01;
        const SampledSteps steps = sampled(cycles, {.tolerance = tolerance});
        CHECK(steps.largest_difference <= tolerance);
        // A jump that a middle misses by no more than the tolerance may be spread over the range around it.
        for (std::size_t step = 0; step < count; ++step) {
            if (steps.simulated[step]) {
                CHECK(steps.steps[step][0] == cycles[step]);
            } else {
                CHECK(std::abs(steps.steps[step][0] - cycles[step]) <= 4 * tolerance * 1800.0);
            }
        }
    }
}

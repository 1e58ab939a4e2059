#include "compiler/operators/tap_phases.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/random_runs.h"

using namespace systole;
using operators::SpreadWindows;

namespace {

SpreadWindows drawn_windows(std::mt19937& random) {
    const auto from_one_to = [&](std::uint32_t most) {
        return 1 + static_cast<std::uint32_t>(random() % most);
    };
    return {.pixels = from_one_to(9),
            .spread = from_one_to(12),
            .kernel = from_one_to(20),
            .stride = from_one_to(13),
            .pad = from_one_to(30) - 1,
            .dilation = from_one_to(13),
            .outputs = from_one_to(20)};
}

/// Whether the tap is on a pixel or beside the image by whole pixels, not on a zero between two.
bool is_met(const SpreadWindows& windows, std::uint32_t output, std::uint32_t tap) {
    return windows.place_of(output, tap) % windows.spread == 0;
}

}  // namespace

TEST_CASE("Phases have each window once, with the taps that it meets", "[operators]") {
    for (std::uint32_t seed = 1; seed <= tests::random_runs(1000); ++seed) {
        std::mt19937 random(seed);
        const SpreadWindows windows = drawn_windows(random);
        INFO("seed " << seed);
        std::uint64_t met = 0;
        std::uint64_t all = 0;
        const std::vector<operators::TapPhase> phases = operators::phases_of(windows);
        CHECK(operators::phase_count(windows) == phases.size());
        for (const operators::TapPhase& phase : phases) {
            met += phase.taps.size() * phase.outputs.size();
            all += phase.outputs.size();
            for (const std::uint32_t output : phase.outputs) {
                for (const std::uint32_t tap : phase.taps) REQUIRE(is_met(windows, output, tap));
            }
        }
        CHECK(all == windows.outputs);
        std::uint64_t expected = 0;
        for (std::uint32_t output = 0; output < windows.outputs; ++output) {
            for (std::uint32_t tap = 0; tap < windows.kernel; ++tap)
                expected += is_met(windows, output, tap) ? 1 : 0;
        }
        CHECK(met == expected);
        CHECK(operators::met_taps(windows) == expected);
    }
}

TEST_CASE("Taps that windows meet are counted where zeros, windows or taps are very many", "[operators]") {
    constexpr std::uint32_t many = 1U << 31;
    // A window by each place of an image of two pixels: each tap meets both.
    CHECK(operators::met_taps(
              {.pixels = 2, .spread = many - 1, .kernel = 3, .pad = 2, .outputs = many + 2}) == 6);
    CHECK(operators::met_taps({.spread = 1, .kernel = 5, .outputs = many}) == std::uint64_t{5} * many);
    CHECK(operators::met_taps({.spread = 2, .kernel = many, .outputs = 3}) == std::uint64_t{3} * (many / 2));
    // An inverse and a rest of nearly 2^32 each. Taps 0 and 1 fall on a pixel in windows 3 and 858993461.
    operators::SpreadWindows far{.spread = 4294967291U, .kernel = 2, .stride = 5, .pad = 15, .outputs = 4};
    CHECK(operators::met_taps(far) == 1);
    far.outputs = 858993461U;
    CHECK(operators::met_taps(far) == 1);
    ++far.outputs;
    CHECK(operators::met_taps(far) == 2);
}

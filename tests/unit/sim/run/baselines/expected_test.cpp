#include "sim/run/baselines/expected.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/random_runs.h"

using namespace systole;
using baselines::Baseline;
using baselines::Expected;
using baselines::Network;

namespace {

/// 1 TFLOPS, 10 GB/s, half of each attained, 10 us a layer; 1 MiB on the die.
Baseline round_numbers() {
    Baseline baseline;
    baseline.name = "round";
    baseline.peak_fp32_gflops = 1000;
    baseline.peak_int8_gops = 4000;
    baseline.memory_gb_per_s = 10;
    baseline.on_chip_mib = 1;
    baseline.efficiency = {.precision = baselines::Precision::Fp32,
                           .peak_share = 0.5,
                           .memory_share = 0.5,
                           .layer_microseconds = 10,
                           .latency_factor = 2,
                           .largest_batch = 0};
    return baseline;
}

/// A layer bound by memory at small batches, one without arithmetic.
Network two_layers() {
    return {.name = "two",
            .layers = {{.macs = 1'000'000, .weights = 1'000'000, .activations = 0},
                       {.macs = 0, .weights = 0, .activations = 1000}}};
}

Expected at(const Baseline& baseline, const Network& network, std::uint32_t batch) {
    const auto result = baselines::expected_at(baseline, network, batch);
    REQUIRE(result);
    return *result;
}

}  // namespace

TEST_CASE("The expected time of a layer is the larger of arithmetic and memory, plus its launch",
          "[baselines]") {
    // 10^6 weights of 4 bytes at 5 GB/s: 800 us. 2 * 10^6 operations at 500 GFLOPS: 4 us an inference.
    const Expected one = at(round_numbers(), two_layers(), 1);
    CHECK(one.memory_seconds == Approx(800e-6));
    CHECK(one.compute_seconds == 0.0);
    CHECK(one.layer_seconds == Approx(20e-6));
    CHECK(one.seconds == Approx(820e-6));
    CHECK(one.inferences_per_second == Approx(1 / 820e-6));
    CHECK(one.tops == Approx(2e6 / 820e-6 / 1e12));
    CHECK(*one.latency_seconds == Approx(2 * 820e-6));

    const Expected many = at(round_numbers(), two_layers(), 250);  // 1000 us of arithmetic
    CHECK(many.compute_seconds == Approx(1000e-6));
    CHECK(many.memory_seconds == 0.0);
    CHECK(many.inferences_per_second == Approx(250 / 1020e-6));
}

TEST_CASE("Activations cost traffic where they do not fit the die", "[baselines]") {
    // 1000 elements of 4 bytes: 262 inferences fit 1 MiB, 263 do not.
    CHECK(at(round_numbers(), two_layers(), 262).memory_seconds == 0.0);
    const Expected beyond = at(round_numbers(), two_layers(), 263);
    CHECK(beyond.memory_seconds == Approx(263 * 4000 / 5e9));
}

TEST_CASE("In int8, the model uses the int8 peak and one byte an element", "[baselines]") {
    Baseline baseline = round_numbers();
    baseline.efficiency.precision = baselines::Precision::Int8;
    CHECK(at(baseline, two_layers(), 1).memory_seconds == Approx(200e-6));
    CHECK(at(baseline, two_layers(), 1000).compute_seconds == Approx(1000e-6));
}

TEST_CASE("Without an efficiency or without work there is no expected speed", "[baselines]") {
    Baseline baseline = round_numbers();
    CHECK_FALSE(baselines::expected_at(baseline, {.name = "none", .layers = {{}}}, 1));
    baseline.efficiency = {};
    CHECK_FALSE(baselines::expected_at(baseline, two_layers(), 1));
    CHECK_FALSE(baselines::expected(baseline, two_layers(), 1));
}

TEST_CASE("The batch is at most the baseline's largest batch", "[baselines]") {
    Baseline baseline = round_numbers();
    CHECK(baselines::expected(baseline, two_layers(), 4096)->batch == 4096);
    baseline.efficiency.largest_batch = 64;
    CHECK(baselines::expected(baseline, two_layers(), 4096)->batch == 64);
    CHECK(baselines::expected(baseline, two_layers(), 63)->batch == 63);
}

TEST_CASE("The batch within a limit of latency is the largest that keeps it", "[baselines]") {
    Baseline baseline = round_numbers();
    const auto batch_within = [&](double limit, std::uint32_t most) -> std::uint32_t {
        const auto result = baselines::expected_within(baseline, two_layers(), most, limit);
        if (!result) return 0;
        CHECK(*result->latency_seconds <= limit);
        return result->batch;
    };
    // Latency is twice the time: 2 * (4 us * B + 20 us) <= 2 ms from B = 200 on, where arithmetic is slower
    // than memory, until B = 245.
    CHECK(batch_within(2e-3, 255) == 245);
    CHECK(batch_within(2e-3, 246) == 245);
    CHECK(batch_within(2e-3, 245) == 245);
    CHECK(batch_within(2e-3, 100) == 100);
    CHECK(*at(baseline, two_layers(), 246).latency_seconds > 2e-3);
    baseline.efficiency.largest_batch = 64;
    CHECK(batch_within(2e-3, 255) == 64);
    CHECK(batch_within(1e-3, 255) == 0);  // one inference takes 0.82 ms, twice
    baseline.efficiency.latency_factor = 0;
    CHECK(batch_within(2e-3, 255) == 0);  // nothing is said of latency
}

TEST_CASE("More hardware is never slower, and a larger batch never gives fewer inferences a second",
          "[baselines]") {
    for (std::uint32_t seed = 1; seed <= tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto number = [&](std::uint32_t most) {
            return static_cast<std::uint32_t>(random() % most + 1);
        };
        Network network{.name = "drawn", .layers = {}};
        for (std::uint32_t i = 0, count = number(8); i < count; ++i) {
            network.layers.push_back(
                {.macs = number(10'000'000), .weights = number(1'000'000), .activations = 0});
        }
        Baseline baseline = round_numbers();
        baseline.efficiency.peak_share = number(90) / 100.0;
        baseline.efficiency.memory_share = number(90) / 100.0;
        baseline.efficiency.layer_microseconds = number(100);
        const std::uint32_t batch = number(300);
        const Expected before = at(baseline, network, batch);
        CHECK(before.seconds ==
              Approx(before.compute_seconds + before.memory_seconds + before.layer_seconds));

        CHECK(at(baseline, network, batch + 1).seconds >= before.seconds);
        CHECK(at(baseline, network, batch + 1).inferences_per_second >=
              before.inferences_per_second * (1 - 1e-12));
        const auto never_slower = [&](auto change) {
            Baseline better = baseline;
            change(better);
            CHECK(at(better, network, batch).seconds <= before.seconds);
        };
        never_slower([](Baseline& b) { b.peak_fp32_gflops *= 2; });
        never_slower([](Baseline& b) { b.memory_gb_per_s *= 2; });
        never_slower([](Baseline& b) { b.efficiency.peak_share *= 1.1; });
        never_slower([](Baseline& b) { b.efficiency.memory_share *= 1.1; });
        never_slower([](Baseline& b) { b.efficiency.layer_microseconds *= 0.5; });
    }
}

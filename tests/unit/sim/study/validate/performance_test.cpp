#include <catch2/catch.hpp>
#include <cmath>

#include "sim/study/validate/comparison.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

/// A simulator that measures exactly what is published: nothing of the rules below is fitted to it.
Results perfect() {
    Results results;
    results.published = shipped_figures();
    results.weights = weights_of(results.published);
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double useful = results.published.table_3(useful_row)[i];
        results.base[i] = made_record(1000, static_cast<std::uint64_t>(std::llround(useful * 1e4)), 10, 100);
        results.prime_memory[i] = made_record(1000 / (i < CNN0 ? 4 : 1), 0);
    }
    return results;
}

TEST_CASE("The published counters give the published performance", "[sim][validate]") {
    const Results results = perfect();
    for (const Ratio ratio : {GpuOverCpu, TpuOverCpu, TpuOverGpu}) {
        for (std::size_t i = 0; i < workload_count; ++i) {
            CHECK(relative_performance(results, ratio)[i] == Approx(results.published.table_6(ratio)[i]));
        }
    }
}

TEST_CASE("The rule of Figure 9 reproduces the printed bars of GPU and TPU", "[sim][validate]") {
    const EfficiencyBars errors = efficiency_errors(perfect());
    for (const auto& bars : errors) {
        for (const Ratio ratio : {GpuOverCpu, TpuOverCpu, TpuOverGpu}) CHECK(std::abs(bars[ratio]) < 0.05);
    }
}

TEST_CASE("An accelerator's server has more watts than its host", "[sim][validate]") {
    Results results = perfect();
    results.published.name = "mine";
    results.published.numbers.at("tpu_prime.server_tdp_watts") = 504;
    CHECK_THROWS_WITH(
        server_efficiency(results),
        "mine: table_2 and tpu_prime: a server with accelerators must have more watts than its host");
}

TEST_CASE("The host's time does not shorten", "[sim][validate]") {
    const Results results = perfect();
    const ByWorkload<double> fast = with_host_time({4, 4, 4, 4, 4, 4}, results.published);
    CHECK(fast[MLP0] == Approx(1.21 / (0.25 + 0.21)));
    CHECK(fast[MLP1] == Approx(1.76 / (0.25 + 0.76)));
    const ByWorkload<double> same = with_host_time({1, 1, 1, 1, 1, 1}, results.published);
    for (const double each : same) CHECK(each == Approx(1.0));
    CHECK(prime_speedup(results)[LSTM1] == Approx(4.0));
    CHECK(prime_speedup(results)[CNN1] == Approx(1.0));
}

TEST_CASE("The host's share is on top of the chip's time", "[sim][validate]") {
    const Results results = perfect();  // 10^6 batches of one inference a second
    CHECK(host_share(results.published, MLP1) == Approx(0.76));
    CHECK(inferences_per_second_with_host(results)[MLP1] == Approx(1e6 / 1.76));
}

}  // namespace
}  // namespace systole::validate

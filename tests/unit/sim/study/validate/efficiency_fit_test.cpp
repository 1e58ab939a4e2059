#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>

#include "sim/study/validate/baseline_errors.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

using baselines::Baseline;

TEST_CASE("A fit finds the efficiency that made the rows", "[sim][validate]") {
    Baseline baseline = shipped_gpu();
    baseline.efficiency.peak_share = 0.62;
    baseline.efficiency.memory_share = 0.35;
    baseline.efficiency.layer_microseconds = 45;
    std::vector<PublishedThroughput> rows = published_throughput(shipped_figures(), Processor::Gpu);
    for (PublishedThroughput& row : rows) {
        row.value = value_of(*baselines::expected_at(baseline, row.network, row.batch), row.measure);
    }
    const baselines::Efficiency found = fit_efficiency(shipped_gpu(), rows);
    CHECK(found.peak_share == Approx(0.62));
    CHECK(found.memory_share == Approx(0.35));
    CHECK(found.layer_microseconds == Approx(45));
    CHECK(found.latency_factor == shipped_gpu().efficiency.latency_factor);
}

TEST_CASE("The shipped efficiencies are what the fit gives", "[sim][validate]") {
    const auto [name, processor] =
        GENERATE(std::make_pair("haswell_e5_2699_v3", Processor::Cpu), std::make_pair("k80", Processor::Gpu));
    INFO(name);
    const Baseline baseline = shipped_baseline(name);
    const auto rows = published_throughput(shipped_figures(), processor);
    const baselines::Efficiency fitted = fit_efficiency(baseline, rows);
    CHECK(baseline.efficiency.peak_share == Approx(fitted.peak_share));
    CHECK(baseline.efficiency.memory_share == Approx(fitted.memory_share));
    CHECK(baseline.efficiency.layer_microseconds == Approx(fitted.layer_microseconds));
    // The factor of latency is the geometric mean of Table 4's latencies over the times of a batch.
    double product = 1.0;
    for (const std::size_t i : {std::size_t{6}, std::size_t{7}}) {
        product *= rows.at(i).latency_ms / (1e3 * rows.at(i).batch / rows.at(i).value);
    }
    CHECK(baseline.efficiency.latency_factor == Approx(std::sqrt(product)).margin(0.05));
    CHECK(baseline.efficiency.largest_batch == 64);
}

}  // namespace
}  // namespace systole::validate

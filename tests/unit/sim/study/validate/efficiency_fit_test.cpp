#include <catch2/catch.hpp>

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
    CHECK(baseline.efficiency.latency_factor == Approx(*fit_latency_factor(rows)).margin(0.05));
    CHECK(baseline.efficiency.largest_batch == 64);
}

TEST_CASE("A factor of latency needs latencies", "[sim][validate]") {
    std::vector<PublishedThroughput> rows = published_throughput(shipped_figures(), Processor::Cpu);
    for (PublishedThroughput& row : rows) row.latency_ms = 0;
    CHECK_FALSE(fit_latency_factor(rows));
    rows[7].latency_ms = 1e3 * 64 / 13194.0 * 5;  // five times the time of a batch
    CHECK(*fit_latency_factor(rows) == Approx(5));
}

}  // namespace
}  // namespace systole::validate

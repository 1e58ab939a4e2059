#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>

#include "sim/study/validate/baseline_errors.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

using baselines::Baseline;

TEST_CASE("The shipped efficiencies are what the fit gives", "[sim][validate]") {
    const auto [name, processor] =
        GENERATE(std::make_pair("haswell_e5_2699_v3", "cpu"), std::make_pair("k80", "gpu"));
    INFO(name);
    const Baseline baseline = shipped_baseline(name);
    Formulas formulas = formulas_of(shipped_setup());
    const auto rows = published_throughput(shipped_setup(), processor, formulas);
    std::vector<baselines::KnownThroughput> known;
    for (const PublishedThroughput& row : rows) known.push_back(row.known);
    const baselines::Efficiency fitted = baselines::fit_efficiency(baseline, known);
    CHECK(baseline.efficiency.peak_share == Approx(fitted.peak_share));
    CHECK(baseline.efficiency.memory_share == Approx(fitted.memory_share));
    CHECK(baseline.efficiency.layer_microseconds == Approx(fitted.layer_microseconds));
    // The factor of latency is the geometric mean of Table 4's latencies over the times of a batch.
    double product = 1.0;
    for (const std::size_t i : {std::size_t{6}, std::size_t{7}}) {
        const auto& [network, batch, figure, inferences_per_second] = rows.at(i).known;
        product *= rows.at(i).latency_ms / (1e3 * batch / inferences_per_second);
    }
    CHECK(baseline.efficiency.latency_factor == Approx(std::sqrt(product)).margin(0.05));
    CHECK(baseline.efficiency.largest_batch == 64);
}

}  // namespace
}  // namespace systole::validate

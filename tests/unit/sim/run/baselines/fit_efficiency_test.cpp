#include "sim/run/baselines/fit_efficiency.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "tests/support/source_dir.h"

using namespace systole::baselines;

namespace {

Baseline k80() {
    return read_baseline(std::filesystem::path(systole::tests::source_dir()) / "configs/baselines/k80.json");
}

/// Networks that are bound by arithmetic, by memory, and by the number of their layers.
std::vector<KnownThroughput> some_rows() {
    const auto row = [](std::size_t layers, std::uint64_t macs, std::uint64_t weights, std::uint32_t batch) {
        return KnownThroughput{.network = {.name = "n",
                                           .layers = std::vector<NetworkLayer>(
                                               layers, {.macs = macs, .weights = weights, .activations = 0})},
                               .batch = batch};
    };
    return {row(16, 500'000'000, 500'000, 8), row(5, 4'000'000, 4'000'000, 16),
            row(5, 4'000'000, 4'000'000, 200), row(58, 900'000, 900'000, 64), row(90, 10'000, 10'000, 4)};
}

}  // namespace

TEST_CASE("A fit finds the efficiency that made the rows", "[baselines]") {
    Baseline baseline = k80();
    baseline.efficiency.peak_share = 0.62;
    baseline.efficiency.memory_share = 0.35;
    baseline.efficiency.layer_microseconds = 45;
    std::vector<KnownThroughput> rows = some_rows();
    rows[0].figure = &Expected::tops;
    for (KnownThroughput& row : rows) row.value = *expected_at(baseline, row.network, row.batch).*row.figure;
    const Efficiency found = fit_efficiency(k80(), rows);
    CHECK(found.peak_share == Approx(0.62));
    CHECK(found.memory_share == Approx(0.35));
    CHECK(found.layer_microseconds == Approx(45));
    CHECK(found.latency_factor == k80().efficiency.latency_factor);
}

TEST_CASE("Nothing is fitted to no rows", "[baselines]") {
    CHECK_THROWS_AS(fit_efficiency(k80(), {}), std::logic_error);
}

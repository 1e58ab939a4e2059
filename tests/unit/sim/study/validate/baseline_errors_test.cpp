#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "hw/machine/config_error.h"
#include "sim/study/validate/output.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("The model's errors are ours over published", "[sim][validate]") {
    const BaselineErrors errors = baseline_errors(shipped_cpu(), shipped_gpu(), shipped_figures());
    REQUIRE(errors.throughput.size() == 16);
    REQUIRE(errors.latency.size() == 4);
    REQUIRE(errors.batch.size() == 2);
    CHECK(errors.batch[1].ours == 19);  // 5.2 * (19 * 37.6 us + 5 * 120 us) = 6.8 ms
    CHECK(errors.batch[1].published == 16);
    REQUIRE(errors.ratio.size() == 6);
    CHECK(errors.ratio[1].published == 0.3);
    for (const auto* part : {&errors.throughput, &errors.latency, &errors.batch, &errors.ratio}) {
        for (const auto& row : *part) CHECK(row.error() == Approx(row.ours / row.published - 1));
    }
    // CNN0 on Haswell is bound by arithmetic, layers cost nothing: TeraOps/s are the peak's share.
    const auto& cnn0 = errors.throughput[4];
    CHECK(cnn0.workload == "CNN0");
    CHECK(cnn0.ours == Approx(1.3 * 0.43));
    CHECK(cnn0.unit == "TOPS");
}

TEST_CASE("The limit of latency is the published one", "[sim][validate]") {
    Published published = shipped_figures();
    published.numbers.at("table_4.limit_ms") = 1e6;
    const BaselineErrors errors = baseline_errors(shipped_cpu(), shipped_gpu(), published);
    CHECK(errors.batch[0].ours == 64);  // the largest that applications gather
}

TEST_CASE("The table of the models' errors has each row, and fits 80 columns", "[sim][validate]") {
    Results results;
    results.target = shipped_target();
    results.cpu = shipped_cpu();
    results.gpu = shipped_gpu();
    results.baseline_errors = baseline_errors(results.cpu, results.gpu, shipped_figures());
    const Table table = baselines_table(results);
    CHECK(table.rows.size() == 28);
    std::istringstream lines(to_text(table));
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
    // Each row of a baseline counts once.
    for (const std::size_t first : {std::size_t{0}, std::size_t{8}}) {
        const BaselineErrorRow* const rows = &results.baseline_errors.throughput.at(first);
        std::array<double, 8> sizes{};
        double sum = 0.0;
        double left_out = 0.0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            sum += sizes[i] = 100.0 * std::abs(rows[i].error());
            left_out += 100.0 * std::abs(rows[i].left_out_error.value());
        }
        CHECK(left_out >= sum);  // a row that the fit has seen is met better than one that it has not
        CHECK(table.notes.at(first == 0 ? 1 : 2) ==
              fmt::format("{}: throughput is off by {:.0f} to {:.0f} %, mean {:.0f} %; left out {:.0f} %.",
                          first == 0 ? "haswell_e5_2699_v3" : "k80", *std::ranges::min_element(sizes),
                          *std::ranges::max_element(sizes), sum / 8, left_out / 8));
    }
}

TEST_CASE("Errors need an efficiency", "[sim][validate]") {
    baselines::Baseline gpu = shipped_gpu();
    gpu.efficiency = {};
    CHECK_THROWS_WITH(baseline_errors(shipped_cpu(), gpu, shipped_figures()),
                      "k80: efficiency is missing; without it nothing can be expected of it");
}

}  // namespace
}  // namespace systole::validate

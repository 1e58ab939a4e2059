#include "sim/study/validate/baseline_errors.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "hw/machine/config_error.h"
#include "sim/study/validate/output.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("The model's errors are ours over published, and their summary counts each", "[sim][validate]") {
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

    double sum = 0.0;
    double most = 0.0;
    for (std::size_t i = 0; i < 8; ++i) {
        const double size = std::abs(errors.throughput[i].error());
        sum += size;
        most = std::max(most, size);
    }
    const auto summary = summarize(errors.throughput, "haswell_e5_2699_v3");
    REQUIRE(summary);
    CHECK(summary->mean == Approx(sum / 8));
    CHECK(summary->most == Approx(most));
    CHECK(summary->least <= summary->mean);
    // A row that the fit has seen is met better, on average, than one that it has not.
    CHECK(*summary->held_out_mean >= summary->mean);
    CHECK_FALSE(summarize(errors.throughput, "nobody"));
    CHECK_FALSE(summarize({}));
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
    CHECK(table.notes.at(1).starts_with("haswell_e5_2699_v3: throughput is off by "));
    CHECK(table.notes.at(2).starts_with("k80: throughput is off by "));
}

TEST_CASE("Errors need an efficiency", "[sim][validate]") {
    baselines::Baseline gpu = shipped_gpu();
    gpu.efficiency = {};
    CHECK_THROWS_WITH(baseline_errors(shipped_cpu(), gpu, shipped_figures()),
                      "k80: efficiency is missing; without it nothing can be expected of it");
}

}  // namespace
}  // namespace systole::validate

#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "sim/study/validate/study_rows.h"
#include "sim/study/validate/tables.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("The model's errors are ours over published", "[sim][validate]") {
    const BaselineErrors errors = shipped_errors();
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
    Formulas formulas = formulas_of(shipped_setup());
    formulas.know("table_4.limit_ms", 1e6);
    const BaselineErrors errors = baseline_errors(shipped_setup(), formulas);
    CHECK(errors.batch[0].ours == 64);  // the largest that applications gather
}

TEST_CASE("The table of the models' errors has each row, and fits 80 columns", "[sim][validate]") {
    Results results{.setup = shipped_setup(), .formulas = formulas_of(shipped_setup())};
    results.baseline_errors = shipped_errors();
    const auto found = std::ranges::find(results.setup.target.tables, "baselines", &TableFormulas::id);
    tables::Table table = table_of(*found, results.formulas);
    add_study_rows("baselines", results, table);
    CHECK(table.rows.size() == 28);
    std::istringstream lines(tables::to_text(table));
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
    Setup setup = shipped_setup();
    setup.baselines.at("gpu").efficiency = {};
    CHECK_THROWS_WITH(formulas_of(setup),
                      "k80: efficiency is missing; without it nothing can be expected of it");
}

TEST_CASE("Points that the file describes wrongly are refused", "[sim][validate]") {
    Setup setup = shipped_setup();
    Formulas formulas = formulas_of(setup);
    SECTION("a network that is not there") {
        setup.target.baselines.at("cpu").points[0].network = "MLP7";
        CHECK_THROWS_WITH(baseline_errors(setup, formulas),
                          Catch::EndsWith(": MLP7 is none of the networks"));
    }
    SECTION("a batch of none") {
        setup.target.baselines.at("cpu").points[0].batch = "0";
        CHECK_THROWS_WITH(
            baseline_errors(setup, formulas),
            Catch::EndsWith(": baselines.cpu.points[0].batch: \"0\" is 0; it must be a number from 1 on"));
    }
    SECTION("a network without work") {
        setup.target.networks.at("MLP0").macs = "0";
        CHECK_THROWS_WITH(baseline_errors(setup, formulas),
                          Catch::Contains(": networks.MLP0.macs: \"0\" is 0; "));
    }
    SECTION("one point alone") {
        setup.target.baselines.at("cpu").points.resize(1);
        CHECK_THROWS_WITH(baseline_errors(setup, formulas),
                          Catch::EndsWith("one point alone cannot be left out"));
    }
    SECTION("a ratio of none") {
        setup.target.ratios[0].than = "tpu";
        CHECK_THROWS_WITH(baseline_errors(setup, formulas),
                          Catch::EndsWith(": tpu is none of the baselines"));
    }
    SECTION("a baseline that is not there") {
        CHECK_THROWS_WITH(published_throughput(setup, "tpu", formulas),
                          Catch::EndsWith(": tpu is none of the baselines"));
    }
}

}  // namespace
}  // namespace systole::validate

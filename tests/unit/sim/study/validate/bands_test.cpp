// The bands that shipped files give are those of the published figures, rounded to two digits.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <vector>

#include "base/significant_digits.h"
#include "hw/machine/machine_config.h"
#include "sim/study/validate/baseline_errors.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("The band of an efficiency is that of the published figures it is fitted to", "[sim][validate]") {
    const BaselineErrors errors = shipped_errors();
    for (const baselines::Baseline& baseline : {shipped_cpu(), shipped_gpu()}) {
        INFO(baseline.name);
        double least = 1.0;
        double most = 1.0;
        int rows = 0;
        for (const BaselineErrorRow& row : errors.throughput) {
            if (row.baseline != baseline.name) continue;
            least = std::min(least, row.published / row.ours);
            most = std::max(most, row.published / row.ours);
            ++rows;
        }
        CHECK(rows == 8);
        CHECK(baseline.efficiency.least_factor == significant(least, 2).value);
        CHECK(baseline.efficiency.most_factor == significant(most, 2).value);
    }
}

TEST_CASE("The host's share of each shipped TPU v1 is that of Table 5", "[sim][validate]") {
    Formulas formulas = formulas_of(shipped_setup());
    std::vector<double> percent;
    for (const auto& [workload, number] : formulas.row("table_5.host_percent_of_tpu_time", "here")) {
        percent.push_back(number.value());
    }
    double logarithms = 0.0;
    for (const double each : percent) logarithms += std::log(each);
    const double geometric_mean = std::exp(logarithms / static_cast<double>(percent.size()));
    int machines = 0;
    for (const auto& file : std::filesystem::directory_iterator(project / "configs/machines")) {
        INFO(file.path());
        if (!file.path().filename().string().starts_with("tpu_v1")) continue;
        const auto host = machine::read_machine(file.path()).server.host_percent;
        REQUIRE(host);
        CHECK(host->typical == significant(geometric_mean, 2).value);
        CHECK(host->least == *std::ranges::min_element(percent));
        CHECK(host->most == *std::ranges::max_element(percent));
        ++machines;
    }
    CHECK(machines == 3);
}

}  // namespace
}  // namespace systole::validate

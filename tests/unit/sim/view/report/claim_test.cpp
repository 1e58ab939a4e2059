#include <catch2/catch.hpp>
#include <sstream>

#include "sim/view/report/report.h"

using namespace systole;

namespace {

/// 100 cycles of a 10 x 10 array: 40 active, of whose 4000 MACs 1000 useful.
report::Report made() {
    report::Report report;
    report.cycles = 100;
    report.array_cells = 100;
    report.parts.claim = true;
    report.main_unit.useful_macs = 1000;
    report.main_unit.unused_macs = 3000;
    report.main_unit.counters = {{"active_cycles", 40},
                                 {"weight_stall_cycles", 20},
                                 {"weight_shift_cycles", 15},
                                 {"non_matrix_cycles", 25}};
    return report;
}

report::Comparison against(double speedup, std::optional<double> total, std::optional<double> incremental) {
    report::Comparison comparison;
    comparison.baseline = "other";
    comparison.speedup = speedup;
    comparison.performance_per_watt = {.total = total, .incremental = incremental};
    return comparison;
}

report::ClaimAgainst judged(const report::Comparison& comparison) {
    report::Report report = made();
    report.comparison.push_back(comparison);
    return report::make_claim(report)->against.front();
}

}  // namespace

TEST_CASE("The claim compares with the published ranges, including their ends", "[report]") {
    CHECK(judged(against(14.99, 1, 30)).performance_place == "below");
    CHECK(judged(against(15, 1, 30)).performance_place == "within");
    CHECK(judged(against(30, 1, 30)).performance_place == "within");
    CHECK(judged(against(30.01, 1, 30)).performance_place == "above");
    CHECK(judged(against(20, 1, 29.9)).performance_per_watt_place == "below");
    CHECK(judged(against(20, 100, 30)).performance_per_watt_place == "within");
    CHECK(judged(against(20, 40, 80.1)).performance_per_watt_place == "above");
    CHECK(judged(against(20, 40, {})).performance_per_watt_place == "within");  // no other figure
    CHECK(judged(against(20, {}, {})).performance_per_watt_place.empty());
}

TEST_CASE("The claim uses the best known figure of a baseline", "[report]") {
    report::Comparison comparison = against(1, 2, 3);
    CHECK(judged(comparison).basis == "upper bound");
    CHECK(judged(comparison).performance == 1);

    report::ComparisonExpected expected;
    expected.speedup = 4;
    comparison.expected = expected;
    CHECK(judged(comparison).basis == "expected");
    CHECK(judged(comparison).performance == 4);

    report::ComparisonMeasured measured;
    measured.fp32.speedup = 5;
    comparison.measured = measured;
    CHECK(judged(comparison).basis == "measured");
    CHECK(judged(comparison).performance == 5);
}

TEST_CASE("The claim has the band of the figure that it uses", "[report]") {
    report::Comparison comparison = against(1, 2, 3);
    CHECK_FALSE(judged(comparison).band);
    comparison.ratio_band = baselines::Band{.least = 0.9, .most = 1.1};
    CHECK(judged(comparison).band->most == 1.1);
    comparison.expected.emplace().ratio_band = baselines::Band{.least = 0.5, .most = 2.0};
    CHECK(judged(comparison).band->least == 0.5);
    comparison.measured.emplace();
    CHECK_FALSE(judged(comparison).band);

    report::Report report = made();
    comparison = against(20, 30, 40);
    comparison.ratio_band = baselines::Band{.least = 0.5, .most = 2.0};
    report.comparison.push_back(comparison);
    report.host_time = {.percent = machine::HostPercent{.typical = 25, .least = 11, .most = 76}};
    const report::Claim claim = *report::make_claim(report);
    const std::string text = report::claim_text(claim);
    INFO(text);
    CHECK(text.find("    (10x to 40x; per W 15x to 60x total, 20x to 80x incremental)\n") !=
          std::string::npos);
    CHECK(text.find("  (host time is in the chip's figures only: 25 % of") != std::string::npos);
    const auto json = report::claim_json(claim)["against"][0]["band"];
    CHECK(json["performance"]["least"] == 10.0);
    CHECK(json["performance"]["most"] == 40.0);
    CHECK(json["performance_per_watt"]["total"]["least"] == 15.0);
    CHECK(json["performance_per_watt"]["incremental"]["most"] == 80.0);
}

TEST_CASE("A report says in whose figures the host's time is", "[report]") {
    report::HostTime host{.percent = machine::HostPercent{.typical = 25.5, .least = 11, .most = 76},
                          .in_baselines = true};
    CHECK(report::host_time_text(host) ==
          "host time is in both sides: 25.5 % of the chip's time is added, 11 to 76 %");
    host.wanted = false;
    CHECK(report::host_time_text(host) ==
          "host time is in the baselines' figures only: the run leaves out that of the chip (host_time is "
          "false)");
    host = {.in_baselines = true};
    CHECK(report::host_time_text(host) ==
          "host time is in the baselines' figures only: the machine file has no server.host_percent");
    host.in_baselines = false;
    CHECK(report::host_time_text(host) ==
          "host time is in neither side: the machine file has no server.host_percent");
}

TEST_CASE("The shares of the array's multiply-accumulates sum to 1", "[report]") {
    report::Report report = made();
    CHECK_FALSE(report::make_claim(report));  // nothing to compare with
    report.comparison.push_back(against(1, {}, {}));
    const report::Claim claim = *report::make_claim(report);
    CHECK(claim.array.useful == Approx(0.10));
    CHECK(claim.array.unused == Approx(0.30));
    CHECK(claim.array.weight_stall == Approx(0.20));
    CHECK(claim.array.weight_shift == Approx(0.15));
    CHECK(claim.array.non_matrix == Approx(0.25));
    const nlohmann::ordered_json json = report::claim_json(claim);
    CHECK(json["largest_loss"] == "unused");
    double sum = 0.0;
    for (const auto& share : json["array"]) sum += share.get<double>();
    CHECK(sum == Approx(1.0));
    CHECK(json["against"][0]["performance_per_watt_place"].is_null());

    report.main_unit.counters[3].second = 45;
    report.main_unit.counters[1].second = 0;
    CHECK(report::claim_json(report::make_claim(report))["largest_loss"] == "non_matrix");
    CHECK(report::claim_json(std::nullopt).is_null());
}

TEST_CASE("The claim is about one family of machines", "[report]") {
    report::Report report = made();
    report.comparison.push_back(against(20, 20, 40));
    CHECK(report::make_claim(report));
    report.parts.claim = false;
    CHECK_FALSE(report::make_claim(report));
}

TEST_CASE("Reasons are given where the run falls short of the claim", "[report]") {
    report::Report report = made();
    report.comparison.push_back(against(20, 20, 40));
    CHECK(report::claim_text(*report::make_claim(report)).find("Why") == std::string::npos);
    report.comparison.push_back(against(123456.0, 99999.0, 99999.0));
    report.comparison.back().baseline = std::string(100, 'b');
    report.comparison.push_back(against(20, {}, {}));
    CHECK(report::claim_text(*report::make_claim(report)).find("Why") == std::string::npos);
    report.comparison.push_back(against(20, 20, 29));
    const std::string text = report::claim_text(*report::make_claim(report));
    CHECK(text.find("Why") != std::string::npos);
    CHECK(text.find("30.0 %  in active cycles, but") != std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
}

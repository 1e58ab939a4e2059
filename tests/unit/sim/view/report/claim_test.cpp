#include <catch2/catch.hpp>
#include <sstream>

#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

using namespace systole;
using report::Json;

namespace {

constexpr std::uint64_t cells = 100;

/// What a claim needs of a report: 100 cycles of a 10 x 10 array, 40 active, of whose 4000 MACs 1000 useful.
Json made() {
    return {{"cycles", 100},
            {"matrix_unit",
             {{"useful_macs", 1000},
              {"unused_macs", 3000},
              {"active_cycles", 40},
              {"weight_stall_cycles", 20},
              {"weight_shift_cycles", 15},
              {"non_matrix_cycles", 25}}},
            {"host_time", {{"text", "host time is in neither side"}}},
            {"comparison", Json::array()}};
}

Json optional(std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
}

/// The ends of a band around a value; null without one.
Json ends(std::optional<double> value, std::optional<baselines::Band> band) {
    if (!value || !band) return nullptr;
    return {{"least", *value * band->least}, {"most", *value * band->most}};
}

Json figures(double speedup, std::optional<double> total, std::optional<double> incremental,
             std::optional<baselines::Band> band = {}) {
    return {{"speedup", speedup},
            {"performance_per_watt", {{"total", optional(total)}, {"incremental", optional(incremental)}}},
            {"band",
             {{"speedup", ends(speedup, band)},
              {"performance_per_watt",
               {{"total", ends(total, band)}, {"incremental", ends(incremental, band)}}}}}};
}

Json against(double speedup, std::optional<double> total, std::optional<double> incremental,
             std::optional<baselines::Band> band = {}) {
    Json comparison{{"baseline", "other"}, {"expected", nullptr}, {"measured", nullptr}};
    comparison.update(figures(speedup, total, incremental, band));
    return comparison;
}

Json judged(const Json& comparison) {
    Json report = made();
    report["comparison"].push_back(comparison);
    return report::claim_json(report, cells)["against"][0];
}

}  // namespace

TEST_CASE("The claim compares with the published ranges, including their ends", "[report]") {
    CHECK(judged(against(14.99, 1, 30))["performance_place"] == "below");
    CHECK(judged(against(15, 1, 30))["performance_place"] == "within");
    CHECK(judged(against(30, 1, 30))["performance_place"] == "within");
    CHECK(judged(against(30.01, 1, 30))["performance_place"] == "above");
    CHECK(judged(against(20, 1, 29.9))["performance_per_watt_place"] == "below");
    CHECK(judged(against(20, 100, 30))["performance_per_watt_place"] == "within");
    CHECK(judged(against(20, 40, 80.1))["performance_per_watt_place"] == "above");
    CHECK(judged(against(20, 40, {}))["performance_per_watt_place"] == "within");  // no other figure
    CHECK(judged(against(20, {}, {}))["performance_per_watt_place"].is_null());
}

TEST_CASE("The claim uses the best known figure of a baseline", "[report]") {
    Json comparison = against(1, 2, 3);
    CHECK(judged(comparison)["basis"] == "upper bound");
    CHECK(judged(comparison)["performance"] == 1);
    comparison["expected"] = figures(4, 5, 6);
    CHECK(judged(comparison)["basis"] == "expected");
    CHECK(judged(comparison)["performance"] == 4);
    comparison["measured"]["fp32"] = figures(5, 6, 7);
    CHECK(judged(comparison)["basis"] == "measured");
    CHECK(judged(comparison)["performance"] == 5);
}

TEST_CASE("The claim has the band of the figure that it uses", "[report]") {
    CHECK(judged(against(1, 2, 3))["band"]["performance"].is_null());
    Json comparison = against(1, 2, 3, baselines::Band{.least = 0.9, .most = 1.1});
    CHECK(judged(comparison)["band"]["performance"]["most"] == 1.1);
    comparison["expected"] = figures(1, 2, 3, baselines::Band{.least = 0.5, .most = 2.0});
    CHECK(judged(comparison)["band"]["performance"]["least"] == 0.5);
    comparison["measured"]["fp32"] = figures(1, 2, 3);
    CHECK(judged(comparison)["band"]["performance"].is_null());

    Json report = made();
    report["comparison"].push_back(against(20, 30, 40, baselines::Band{.least = 0.5, .most = 2.0}));
    const Json claim = report::claim_json(report, cells);
    const std::string text = report::claim_text(claim);
    INFO(text);
    CHECK(text.find("    (10x to 40x; per W 15x to 60x total, 20x to 80x incremental)\n") !=
          std::string::npos);
    CHECK(text.find("  (host time is in neither side)\n") != std::string::npos);
    const Json& band = claim["against"][0]["band"];
    CHECK(band["performance"]["least"] == 10.0);
    CHECK(band["performance"]["most"] == 40.0);
    CHECK(band["performance_per_watt"]["total"]["least"] == 15.0);
    CHECK(band["performance_per_watt"]["incremental"]["most"] == 80.0);
}

TEST_CASE("A report says in whose figures the host's time is", "[report]") {
    report::HostTime host{.percent = machine::HostPercent{.typical = 25.5, .least = 11, .most = 76},
                          .in_baselines = true};
    CHECK(report::host_time_text(host) ==
          "host time is in both sides: 25.5 % of the chip's time is added, 11 to 76 %");
    host.in_baselines = false;
    CHECK(report::host_time_text(host) ==
          "host time is in the chip's figures only: 25.5 % of the chip's time is added, 11 to 76 %");
    host.in_baselines = true;
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
    Json report = made();
    CHECK(report::claim_json(report, cells).is_null());  // nothing to compare with
    report["comparison"].push_back(against(1, {}, {}));
    const Json claim = report::claim_json(report, cells);
    const Json& array = claim["array"];
    CHECK(array["useful_share"].get<double>() == Approx(0.10));
    CHECK(array["unused_share"].get<double>() == Approx(0.30));
    CHECK(array["weight_stall_share"].get<double>() == Approx(0.20));
    CHECK(array["weight_shift_share"].get<double>() == Approx(0.15));
    CHECK(array["non_matrix_share"].get<double>() == Approx(0.25));
    CHECK(claim["largest_loss"] == "unused");
    double sum = 0.0;
    for (const Json& share : array) sum += share.get<double>();
    CHECK(sum == Approx(1.0));
    CHECK(claim["against"][0]["performance_per_watt_place"].is_null());

    report["matrix_unit"]["non_matrix_cycles"] = 45;
    report["matrix_unit"]["weight_stall_cycles"] = 0;
    CHECK(report::claim_json(report, cells)["largest_loss"] == "non_matrix");
}

TEST_CASE("Reasons are given where the run falls short of the claim", "[report]") {
    Json report = made();
    const auto text_of = [&] { return report::claim_text(report::claim_json(report, cells)); };
    report["comparison"].push_back(against(20, 20, 40));
    CHECK(text_of().find("Why") == std::string::npos);
    report["comparison"].push_back(against(123456.0, 99999.0, 99999.0));
    report["comparison"].back()["baseline"] = std::string(100, 'b');
    report["comparison"].push_back(against(20, {}, {}));
    CHECK(text_of().find("Why") == std::string::npos);
    report["comparison"].push_back(against(20, 20, 29));
    const std::string text = text_of();
    CHECK(text.find("Why") != std::string::npos);
    CHECK(text.find("30.0 %  in active cycles, but") != std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
}

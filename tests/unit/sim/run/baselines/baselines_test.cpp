#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/view/report/baseline_text.h"
#include "tests/support/source_dir.h"

using namespace systole;
using baselines::Baseline;

namespace {

const std::filesystem::path configs = std::filesystem::path(tests::source_dir()) / "configs";

Baseline haswell() {
    return baselines::read_baseline(configs / "baselines/haswell_e5_2699_v3.json");
}

nlohmann::json haswell_json() {
    return machine::read_json_object(configs / "baselines/haswell_e5_2699_v3.json");
}

std::string error_of(const nlohmann::json& object) {
    try {
        baselines::read_baseline(object, "b.json");
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("The Haswell baseline has the published figures", "[baselines]") {
    const Baseline baseline = haswell();
    CHECK(baseline.name == "haswell_e5_2699_v3");
    CHECK(baseline.cores == 18);
    CHECK(baseline.clock_mhz == 2300);
    CHECK(baseline.peak_fp32_gflops == 1300);
    CHECK(baseline.peak_int8_gops == 2600);
    CHECK(baseline.memory_gb_per_s == 51);
    CHECK(baseline.power.tdp_watts == 145);
    CHECK(baseline.power.idle_watts == 41);
    CHECK(baseline.power.busy_watts == 145);
    CHECK(baseline.server.dies == 2);
    CHECK(baseline.server.tdp_watts == 504);
    CHECK(baseline.server.idle_watts == 159);
    CHECK(baseline.server.busy_watts == 455);
}

TEST_CASE("Each shipped baseline names a source for each number", "[baselines]") {
    for (const auto& file : std::filesystem::directory_iterator(configs / "baselines")) {
        INFO(file.path());
        const Baseline baseline = baselines::read_baseline(file.path());
        const nlohmann::ordered_json object = baselines::to_json(baseline);
        const auto check = [&](const std::string& key, const nlohmann::ordered_json& value) {
            INFO(key);
            if (value.is_number()) CHECK(baseline.sources.count(key) == 1);
        };
        for (const auto& [key, value] : object.items()) {
            check(key, value);
            if (!value.is_object() || key == "sources") continue;
            for (const auto& [inner, number] : value.items()) check(key + "." + inner, number);
        }
    }
}

TEST_CASE("A written baseline reads back unchanged", "[baselines]") {
    for (const auto& file : std::filesystem::directory_iterator(configs / "baselines")) {
        INFO(file.path());
        CHECK(nlohmann::json(baselines::to_json(baselines::read_baseline(file.path()))) ==
              machine::read_json_object(file.path()));
    }
    const nlohmann::json least{{"schema", "sim.baseline/1"},
                               {"name", "least"},
                               {"cores", 1},
                               {"peak_fp32_gflops", 1.5},
                               {"memory_gb_per_s", 0.25}};
    CHECK(nlohmann::json(baselines::to_json(baselines::read_baseline(least, "b.json"))) == least);
}

TEST_CASE("The K80 baseline has the published figures", "[baselines]") {
    const Baseline baseline = baselines::read_baseline(configs / "baselines/k80.json");
    CHECK(baseline.cores == 13);
    CHECK(baseline.clock_mhz == 560);
    CHECK(baseline.peak_fp32_gflops == 2800);
    CHECK(baseline.peak_int8_gops == 0);  // it has none
    CHECK(baseline.memory_gb_per_s == 160);
    CHECK(baseline.on_chip_mib == 8);
    CHECK(baseline.power.tdp_watts == 150);
    CHECK(baseline.power.idle_watts == 25);
    CHECK(baseline.power.busy_watts == 98);
    CHECK(baseline.server.dies == 8);
    CHECK(baseline.server.tdp_watts == 1838);
    CHECK(baseline.server.idle_watts == 357);
    CHECK(baseline.server.busy_watts == 991);
}

TEST_CASE("A broken baseline is refused with its key and the rule", "[baselines]") {
    nlohmann::json object = haswell_json();
    SECTION("an unknown key, with the nearest known one") {
        object["memory_gb_s"] = 51;
        CHECK(error_of(object) ==
              "b.json: memory_gb_s is 51; it is not a known key; did you mean \"memory_gb_per_s\"?");
    }
    SECTION("a peak of 0") {
        object["peak_fp32_gflops"] = 0;
        CHECK(error_of(object).find("b.json: peak_fp32_gflops is 0; it must be") == 0);
    }
    SECTION("a missing peak") {
        object.erase("peak_fp32_gflops");
        CHECK(error_of(object) == "b.json: peak_fp32_gflops is missing; it is needed");
    }
    SECTION("watts that are not known are left out, not 0") {
        object["power"]["tdp_watts"] = 0;
        CHECK(error_of(object).find("b.json: power.tdp_watts is 0; it must be") == 0);
    }
    SECTION("a share of more than all") {
        object["efficiency"]["peak_share"] = 1.01;
        CHECK(error_of(object).find("b.json: efficiency.peak_share is 1.01; it must be") == 0);
    }
    SECTION("half an efficiency") {
        object["efficiency"].erase("memory_share");
        CHECK(error_of(object) == "b.json: efficiency.memory_share is missing; it is needed");
    }
    SECTION("half a band") {
        object["efficiency"].erase("most_factor");
        CHECK(error_of(object) ==
              "b.json: efficiency.least_factor is 0.54; least_factor and most_factor are given together");
        object["efficiency"].erase("least_factor");
        CHECK(error_of(object) == "no error");
    }
    SECTION("a band that does not contain the expected speed") {
        object["efficiency"]["least_factor"] = 1.01;
        CHECK(error_of(object).find("b.json: efficiency.least_factor is 1.01; it must be") == 0);
        object["efficiency"]["least_factor"] = 1;
        object["efficiency"]["most_factor"] = 0.99;
        CHECK(error_of(object).find("b.json: efficiency.most_factor is 0.99; it must be") == 0);
        object["efficiency"]["most_factor"] = 1;
        CHECK(error_of(object) == "no error");
    }
    SECTION("an efficiency in a precision without a peak") {
        object["efficiency"]["precision"] = "int8";
        CHECK(error_of(object) == "no error");
        object.erase("peak_int8_gops");
        CHECK(error_of(object) ==
              "b.json: efficiency.precision is \"int8\"; the baseline gives no peak_int8_gops");
        object["efficiency"]["precision"] = "fp16";
        CHECK(error_of(object) ==
              "b.json: efficiency.precision is \"fp16\"; the baseline gives no peak_fp16_gflops");
        object["efficiency"]["precision"] = "bf16";
        CHECK(error_of(object) ==
              "b.json: efficiency.precision is \"bf16\"; the baseline gives no peak_bf16_gflops");
    }
    SECTION("a latency of less than the time of a batch") {
        object["efficiency"]["latency_factor"] = 0.5;
        CHECK(error_of(object).find("b.json: efficiency.latency_factor is 0.5; it must be") == 0);
    }
    SECTION("a server whose host takes more than all of it") {
        object["server"]["host_tdp_watts"] = 504;
        CHECK(error_of(object) ==
              "b.json: server.host_tdp_watts is 504; it must be less than tdp_watts, which includes it");
    }
    SECTION("a measurement of no model") {
        object["measured"] = {{"batch", 1}};
        CHECK(error_of(object) == "b.json: measured.model is missing; it is needed");
    }
    SECTION("another schema") {
        object["schema"] = "sim.machine/1";
        CHECK(error_of(object) == "b.json: schema is \"sim.machine/1\"; it must be \"sim.baseline/1\"");
    }
}

TEST_CASE("The roofline takes the slower of arithmetic and memory", "[baselines]") {
    const Baseline baseline = haswell();
    const double compute = 1.3e12 / (2 * 1e6);  // inferences a second at the peak, of 10^6 MACs
    const auto bound = [&](std::uint64_t weights, std::uint32_t batch) {
        return baselines::roofline(baseline, {.macs = 1'000'000, .weights = weights, .batch = batch},
                                   baselines::Precision::Fp32);
    };
    CHECK(bound(1, 1)->inferences_per_second == Approx(compute));
    CHECK_FALSE(bound(1, 1)->memory_bound);
    // 10^6 weights: 4 MB at 51 GB/s, longer than 2 * 10^6 operations until 51 inferences share them.
    CHECK(bound(1'000'000, 1)->inferences_per_second == Approx(51e9 / 4e6));
    CHECK(bound(1'000'000, 1)->memory_bound);
    CHECK(bound(1'000'000, 50)->memory_bound);
    CHECK_FALSE(bound(1'000'000, 51)->memory_bound);
    CHECK(bound(1'000'000, 51)->inferences_per_second == Approx(compute));
    // Integers: twice the peak, a quarter of the bytes.
    const auto integers = baselines::roofline(baseline, {.macs = 1'000'000, .weights = 1'000'000, .batch = 1},
                                              baselines::Precision::Int8);
    CHECK(integers->inferences_per_second == Approx(51e9 / 1e6));
    CHECK_FALSE(
        baselines::roofline(baseline, {.macs = 0, .weights = 1, .batch = 1}, baselines::Precision::Fp32));
}

TEST_CASE("Performance per watt reproduces the published bars of TPU v1's servers", "[baselines]") {
    // ISCA 2017, Table 6: a TPU die does 14.5 (geometric mean) and 29.2 (weighted mean) times a Haswell
    // die; Figure 9: the servers' performance per watt, 17 and 34 in total, 41 and 83 incremental.
    const machine::ServerConfig tpu = machine::read_machine(configs / "machines/tpu_v1.json").server;
    const auto ratios = [&](double speedup) {
        return baselines::performance_per_watt(tpu, speedup, haswell(), 1.0);
    };
    CHECK(*ratios(14.5).total == Approx(17).margin(0.5));
    CHECK(*ratios(29.2).total == Approx(34).margin(0.5));
    CHECK(*ratios(14.5).incremental == Approx(41).margin(0.5));
    CHECK(*ratios(29.2).incremental == Approx(83).margin(0.8));
}

TEST_CASE("Performance per watt reproduces the published bars over K80's servers", "[baselines]") {
    // Table 6: a TPU die does 13.2 (geometric mean) and 15.3 (weighted mean) times a K80 die; Figure 9: 14
    // and 16 in total, 25 and 29 incremental: both servers without their host.
    const machine::ServerConfig tpu = machine::read_machine(configs / "machines/tpu_v1.json").server;
    const Baseline k80 = baselines::read_baseline(configs / "baselines/k80.json");
    const auto ratios = [&](double speedup) {
        return baselines::performance_per_watt(tpu, speedup, k80, 1.0);
    };
    CHECK(*ratios(13.2).total == Approx(14).margin(0.5));
    CHECK(*ratios(15.3).total == Approx(16).margin(0.5));
    CHECK(*ratios(13.2).incremental == Approx(25).margin(0.5));
    CHECK(*ratios(15.3).incremental == Approx(29).margin(0.5));
}

TEST_CASE("Without an int8 peak there is no int8 roofline", "[baselines]") {
    const Baseline k80 = baselines::read_baseline(configs / "baselines/k80.json");
    const baselines::Work work{.macs = 1'000'000, .weights = 1000, .batch = 1};
    CHECK_FALSE(baselines::roofline(k80, work, baselines::Precision::Int8));
    CHECK(baselines::roofline(k80, work, baselines::Precision::Fp32));
}

TEST_CASE("Without published watts there is no performance per watt", "[baselines]") {
    Baseline baseline = haswell();
    machine::ServerConfig ours{.dies = 4, .tdp_watts = 861, .host_tdp_watts = 0};
    CHECK(baselines::performance_per_watt(ours, 1, baseline, 1).total);
    CHECK_FALSE(baselines::performance_per_watt(ours, 1, baseline, 1).incremental);
    ours.tdp_watts = 0;
    CHECK_FALSE(baselines::performance_per_watt(ours, 1, baseline, 1).total);
    ours.tdp_watts = 861;
    baseline.server.tdp_watts = 0;
    CHECK_FALSE(baselines::performance_per_watt(ours, 1, baseline, 1).total);
}

TEST_CASE("On a terminal, sources of figures are wrapped", "[baselines]") {
    const std::string plain = baselines::to_text(haswell());
    std::size_t longest = 0;
    for (const std::size_t columns : {60U, 80U, 100U, 140U, 200U}) {
        std::istringstream lines(baselines::to_text(haswell(), {.columns = columns}));
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            CHECK(line.size() <= columns);
            longest = std::max(longest, line.size());
        }
    }
    CHECK(longest > 140);
    CHECK(baselines::to_text(haswell(), {.columns = 1000}) == plain);
}

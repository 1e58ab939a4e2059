#include "sim/baselines/model_error.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/baselines/expected.h"

using namespace systole;
using baselines::Baseline;
using baselines::Efficiency;
using baselines::PublishedThroughput;
using baselines::published::Measure;
using baselines::published::Platform;

namespace {

const std::filesystem::path root = SYSTOLE_SOURCE_DIR;

Baseline shipped(const char* name) {
    return baselines::read_baseline(root / "configs/baselines" / (std::string(name) + ".json"));
}

}  // namespace

TEST_CASE("The published rows are those of the reference, where it is there", "[baselines]") {
    const std::filesystem::path file = root.parent_path() / "shared/reference/tpu_v1.json";
    if (!std::filesystem::exists(file)) {
        WARN("SKIPPED: no reference to hold the published rows against");
        return;
    }
    const nlohmann::json reference = machine::read_json_object(file);
    for (const auto& workload : baselines::published::workloads) {
        INFO(workload.name);
        const nlohmann::json& row = reference.at("table1").at(std::string(workload.name));
        // [LOC, FC, Conv, Vector, Pool, Total, nonlinear, weights, MACs a weight byte, batch]. Total of
        // CNN1: 89.
        CHECK(workload.weight_layers == row[1].get<unsigned>() + row[2].get<unsigned>());
        CHECK(workload.other_layers == row[3].get<unsigned>() + row[4].get<unsigned>());
        CHECK(workload.weight_layers + workload.other_layers == row[5].get<unsigned>());
        CHECK(static_cast<double>(workload.weights) == row[7].get<double>());
        CHECK(workload.macs_per_weight_byte == row[8].get<double>());
        CHECK(workload.batch == row[9].get<unsigned>());
    }
    for (std::size_t i = 0; i < baselines::published::workloads.size(); ++i) {
        CHECK(baselines::published::k80_over_haswell[i] ==
              reference.at("table6_relative_perf_per_die_vs_cpu").at("GPU")[i].get<double>());
    }
    int from_table = 0;
    for (const auto& row : baselines::published::rows()) {
        INFO(row.source << " " << row.workload << " batch " << row.batch);
        const bool haswell = row.platform == Platform::Haswell;
        if (row.measure == Measure::TeraOps) {
            const nlohmann::json& figure = reference.at("roofline").at(haswell ? "fig6_haswell" : "fig7_k80");
            CHECK(row.value == figure.at("tops").at(std::string(row.workload)).get<double>());
            // The batch is what 4-byte weights make of the place on the axis; MLP0 is explained in
            // published.h.
            const auto& workload = baselines::published::workload(row.workload);
            const double place = figure.at("x").at(std::string(row.workload)).get<double>();
            const double batch = place * 4 * workload.batch / workload.macs_per_weight_byte;
            if (row.workload != "MLP0") CHECK(row.batch == Approx(batch).margin(0.5));
            continue;
        }
        for (const nlohmann::json& line : reference.at("table4_mlp0_latency").at("rows")) {
            if (line[0] != (haswell ? "CPU" : "GPU") || line[1] != row.batch) continue;
            CHECK(row.latency_ms == line[2].get<double>());
            CHECK(row.value == line[3].get<double>());
            ++from_table;
        }
    }
    CHECK(from_table == 4);
}

TEST_CASE("A published workload has its weights and multiply-accumulates, whatever its layers",
          "[baselines]") {
    for (const auto& workload : baselines::published::workloads) {
        INFO(workload.name);
        const baselines::Network network = baselines::published::network_of(workload);
        CHECK(network.layers.size() == workload.weight_layers + workload.other_layers);
        CHECK(network.weights() == workload.weights);
        CHECK(static_cast<double>(network.macs()) * workload.batch ==
              Approx(workload.macs_per_weight_byte * static_cast<double>(workload.weights)));
    }
    CHECK(baselines::published::network_of(baselines::published::workload("MLP0")).macs() == 20'000'000);
    CHECK_THROWS_AS(baselines::published::workload("MLP2"), std::logic_error);
}

TEST_CASE("A fit finds the efficiency that made the rows", "[baselines]") {
    Baseline baseline = shipped("k80");
    baseline.efficiency.peak_share = 0.62;
    baseline.efficiency.memory_share = 0.35;
    baseline.efficiency.layer_microseconds = 45;
    std::vector<PublishedThroughput> rows = baselines::published_throughput(Platform::K80);
    for (PublishedThroughput& row : rows) {
        const auto made = baselines::expected_at(baseline, row.network, row.batch);
        row.value = row.measure == Measure::TeraOps ? made->tops : made->inferences_per_second;
    }
    const Efficiency found = baselines::fit_efficiency(shipped("k80"), rows);
    CHECK(found.peak_share == Approx(0.62));
    CHECK(found.memory_share == Approx(0.35));
    CHECK(found.layer_microseconds == Approx(45));
    CHECK(found.latency_factor == shipped("k80").efficiency.latency_factor);
}

TEST_CASE("The shipped efficiencies are what the fit gives", "[baselines]") {
    const auto [name, platform] = GENERATE(std::make_pair("haswell_e5_2699_v3", Platform::Haswell),
                                           std::make_pair("k80", Platform::K80));
    INFO(name);
    const Baseline baseline = shipped(name);
    const auto rows = baselines::published_throughput(platform);
    REQUIRE(rows.size() == 8);
    const Efficiency fitted = baselines::fit_efficiency(baseline, rows);
    CHECK(baseline.efficiency.peak_share == Approx(fitted.peak_share));
    CHECK(baseline.efficiency.memory_share == Approx(fitted.memory_share));
    CHECK(baseline.efficiency.layer_microseconds == Approx(fitted.layer_microseconds));
    CHECK(baseline.efficiency.latency_factor == Approx(*baselines::fit_latency_factor(rows)).margin(0.05));
    CHECK(baseline.efficiency.largest_batch == 64);
}

TEST_CASE("A factor of latency needs latencies", "[baselines]") {
    std::vector<PublishedThroughput> rows = baselines::published_throughput(Platform::Haswell);
    for (PublishedThroughput& row : rows) row.latency_ms = 0;
    CHECK_FALSE(baselines::fit_latency_factor(rows));
    rows[7].latency_ms = 1e3 * 64 / 13194.0 * 5;  // five times the time of a batch
    CHECK(*baselines::fit_latency_factor(rows) == Approx(5));
}

TEST_CASE("The model's errors are ours over published, and their summary counts each", "[baselines]") {
    const baselines::ModelError error = baselines::model_error(shipped("haswell_e5_2699_v3"), shipped("k80"));
    REQUIRE(error.throughput.size() == 16);
    REQUIRE(error.latency.size() == 4);
    REQUIRE(error.batch.size() == 2);
    CHECK(error.batch[1].ours == 19);  // 5.2 * (19 * 37.6 us + 5 * 120 us) = 6.8 ms
    REQUIRE(error.ratio.size() == 6);
    for (const auto* part : {&error.throughput, &error.latency, &error.batch, &error.ratio}) {
        for (const auto& row : *part) CHECK(row.error == Approx(row.ours / row.published - 1));
    }
    // CNN0 on Haswell is bound by arithmetic, layers cost nothing: TeraOps/s are the peak's share.
    const auto& cnn0 = error.throughput[4];
    CHECK(cnn0.workload == "CNN0");
    CHECK(cnn0.ours == Approx(1.3 * 0.43));
    CHECK(cnn0.unit == "TeraOps/s");

    double sum = 0.0;
    double most = 0.0;
    for (int i = 0; i < 8; ++i) {
        const double size = std::abs(error.throughput[static_cast<std::size_t>(i)].error);
        sum += size;
        most = std::max(most, size);
    }
    const auto summary = baselines::summarize(error.throughput, "haswell_e5_2699_v3");
    REQUIRE(summary);
    CHECK(summary->mean == Approx(sum / 8));
    CHECK(summary->most == Approx(most));
    CHECK(summary->least <= summary->mean);
    // A row that the fit has seen is met better, on average, than one that it has not.
    CHECK(*summary->held_out_mean >= summary->mean);
    CHECK_FALSE(baselines::summarize(error.throughput, "nobody"));
    CHECK_FALSE(baselines::summarize({}));
}

TEST_CASE("Networks that are given take the place of the evenly shared ones", "[baselines]") {
    baselines::Network mlp0 = baselines::published::network_of(baselines::published::workload("MLP0"));
    mlp0.layers.resize(105);  // a hundred layers without work
    const std::vector<baselines::Network> networks{mlp0};
    const auto rows = baselines::published_throughput(Platform::K80, networks);
    CHECK(rows[0].network.layers.size() == 105);
    CHECK(rows[1].network.layers.size() == 4);
}

TEST_CASE("Model errors fit 80 columns, and need an efficiency", "[baselines]") {
    const Baseline haswell = shipped("haswell_e5_2699_v3");
    Baseline k80 = shipped("k80");
    const baselines::ModelError error = baselines::model_error(haswell, k80);
    std::istringstream lines(baselines::to_text(error));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
    CHECK(count > 26);
    const nlohmann::ordered_json json = baselines::to_json(error);
    CHECK(json["throughput"]["rows"].size() == 16);
    CHECK(json["throughput"]["summary"]["k80"]["mean"].get<double>() ==
          Approx(baselines::summarize(error.throughput, "k80")->mean));
    k80.efficiency = {};
    CHECK_THROWS_WITH(baselines::model_error(haswell, k80),
                      "k80: efficiency is missing; without it nothing can be expected of it");
}

TEST_CASE("docs/baselines.md shows the errors as they are", "[baselines]") {
    std::ifstream file(root / "docs/baselines.md");
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string table =
        baselines::to_text(baselines::model_error(shipped("haswell_e5_2699_v3"), shipped("k80")));
    INFO(table);
    CHECK(page.find("```\n" + table + "```\n") != std::string::npos);
}

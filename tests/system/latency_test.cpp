// The latency of batches, from first byte in to last byte out, beside the interval between them: of every
// shipped run, and of requests that arrive at random.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using tests::Folder;
using tests::project;
using tests::report_of;
using tests::sim;

namespace {

/// A shipped network, with the batch of its published figures.
struct ShippedRun {
    std::string arguments;  ///< without batch and limit
    int batch = 0;
};

std::vector<ShippedRun> shipped_runs() {
    std::vector<ShippedRun> runs{{"configs/runs/mnist_cnn.json --timing-only", 16}};
    for (const auto& [model, batch] : {std::pair("mlp0", 200), std::pair("mlp1", 168), std::pair("lstm0", 64),
                                       std::pair("lstm1", 96), std::pair("cnn0", 8), std::pair("cnn1", 32)}) {
        runs.push_back(
            {fmt::format("--machine tpu_v1 --model models/isca17/{}.json --timing-only", model), batch});
    }
    return runs;
}

/// Depthwise and pointwise convolutions, whose work is small beside their transfers.
const std::string depthwise = R"({
  "schema": "sim.graph/1", "name": "depthwise", "input": {"shape": [32, 32, 3]}, "weights": {"seed": 5},
  "layers": [
    {"name": "stem", "op": "convolution", "inputs": ["input"], "filters": 32, "kernel": 3, "stride": 2, "padding": "same", "activation": "relu"},
    {"name": "each", "op": "depthwise_convolution", "inputs": ["stem"], "kernel": 3, "padding": "same", "activation": "relu"},
    {"name": "mix", "op": "convolution", "inputs": ["each"], "filters": 64, "kernel": 1, "activation": "relu"},
    {"name": "each_2", "op": "depthwise_convolution", "inputs": ["mix"], "kernel": 3, "stride": 2, "padding": "same", "activation": "relu"},
    {"name": "mix_2", "op": "convolution", "inputs": ["each_2"], "filters": 64, "kernel": 1, "activation": "relu"},
    {"name": "mean", "op": "global_average_pool", "inputs": ["mix_2"]},
    {"name": "classes", "op": "dense", "inputs": ["mean"], "units": 10}],
  "output": "classes"})";

double ms(const Json& json, const char* key) {
    INFO(key);
    REQUIRE(json.at(key).is_number());
    return json.at(key);
}

/// One batch alone, and several: their reports.
struct Both {
    Json one;
    Json several;
};

Both both(const std::string& arguments, int batch, int batches) {
    const std::string run = fmt::format("{} --batch {}", arguments, batch);
    return {report_of(fmt::format("{} --limit {}", run, batch)),
            report_of(fmt::format("{} --limit {}", run, batch * batches))};
}

void check_latency(const Both& reports) {
    const double alone = ms(reports.one, "latency_ms");
    CHECK(alone == 1e3 * reports.one.at("seconds").get<double>());
    CHECK(ms(reports.one, "latency_max_ms") == alone);
    CHECK(ms(reports.one, "interval_ms") == alone);
    const double latency = ms(reports.several, "latency_ms");
    CHECK(latency >= ms(reports.several, "interval_ms"));
    CHECK(ms(reports.several, "latency_max_ms") >= latency);
    CHECK(ms(reports.several, "latency_max_ms") <= 1e3 * reports.several.at("seconds").get<double>());
    CHECK(ms(reports.several, "interval_ms") == 1e3 * reports.several.at("seconds_per_batch").get<double>());
}

/// With arrivals of any rate, no request has its result before a batch alone has. The chip's times for
/// requests are those of full batches, whatever the number of inferences: also of runs with these `limits`.
void check_requests(const std::string& arguments, int batch, const Both& reports,
                    const std::vector<int>& limits) {
    const double alone = ms(reports.one, "latency_ms");
    const auto requests_of = [&](int limit, double rate) -> Json {
        return report_of(fmt::format("{} --batch {} --limit {} --arrivals {:.9f} --no-host-time", arguments,
                                     batch, limit, rate))
            .at("requests");
    };
    const Json many = requests_of(10 * batch, 1.0);
    // The run is longer than its intervals by what the first batch takes to fill the pipeline.
    const Json run = report_of(fmt::format("{} --batch {} --limit {}", arguments, batch, 10 * batch));
    CHECK(10.0 * ms(run, "interval_ms") >= 9.0 * ms(many, "interval_ms"));
    CHECK(ms(many, "interval_ms") <= ms(run, "interval_ms") * 1.01);
    CHECK(many.at("capacity_per_second").get<double>() ==
          Approx(batch / (1e-3 * std::min(ms(many, "interval_ms"), alone))));
    double before = 0.0;
    for (const double load : {0.000001, 0.5, 0.95}) {
        const double rate = load * many.at("capacity_per_second").get<double>();
        const Json expected = requests_of(10 * batch, rate);
        CHECK(ms(expected, "p50_ms") >= ms(expected, "alone_ms"));
        CHECK(ms(expected, "p99_ms") >= ms(expected, "p50_ms"));
        CHECK(ms(expected, "p99_ms") >= before);
        before = ms(expected, "p99_ms");
        if (load < 0.001) CHECK(before == Approx(alone));
        // Neither their number nor a last batch that is not full counts.
        if (load < 0.9) continue;
        for (const int limit : limits) {
            INFO(fmt::format("{} inferences, {} a second", limit, rate));
            const Json requests = requests_of(limit, rate);
            for (const char* const key : {"alone_ms", "interval_ms", "latency_ms", "p50_ms", "p99_ms"}) {
                CHECK(ms(requests, key) == Approx(ms(expected, key)));
            }
        }
    }
}

}  // namespace

TEST_CASE(
    "On every shipped run, one batch is in the chip for the run, and several for at least their interval",
    "[system]") {
    for (const ShippedRun& run : shipped_runs()) {
        INFO(run.arguments);
        for (const char* mapping : {"best", "as_published", "plain"}) {
            INFO(mapping);
            check_latency(both(run.arguments + " --mapping " + mapping, run.batch, 4));
        }
    }
    for (const auto& entry : std::filesystem::directory_iterator(project / "configs/runs")) {
        INFO(entry.path());
        const Json whole = report_of(entry.path().string());
        CHECK(ms(whole, "latency_ms") >= ms(whole, "interval_ms"));
    }
}

TEST_CASE("With arrivals, no request of a shipped run is quicker than a batch alone", "[system]") {
    for (const ShippedRun& run : shipped_runs()) {
        INFO(run.arguments);
        check_requests(run.arguments, run.batch, both(run.arguments, run.batch, 4), {8 * run.batch + 1});
    }
}

TEST_CASE("Batches in a pipeline follow each other sooner than they are done", "[system]") {
    const Folder folder;
    const std::string run = "--machine tpu_v1 --timing-only --model " + folder.file("net.json", depthwise);
    const Both reports = both(run, 32, 16);
    check_latency(reports);
    CHECK(ms(reports.several, "interval_ms") < 0.95 * ms(reports.one, "latency_ms"));
    CHECK(ms(reports.several, "latency_ms") > ms(reports.several, "interval_ms"));
    check_requests(run, 32, reports, {32, 33, 64, 257, 351});
}

TEST_CASE("Latency is the same with values and without, and on each engine", "[system]") {
    const Folder folder;
    const std::string run =
        "--machine tpu_v1 --batch 3 --limit 8 --set machine.matrix_unit.rows=32 --set "
        "machine.matrix_unit.columns=48 --set machine.unified_buffer.rows=65536 --model " +
        folder.file("net.json", depthwise);
    const Json timed = report_of(run + " --timing-only");
    CHECK(ms(timed, "latency_ms") > 0.0);
    for (const char* engine : {"wavefront", "pe"}) {
        INFO(engine);
        const Json computed =
            report_of(run + " --random-input 1 --set machine.matrix_unit.engine=" + std::string(engine));
        for (const char* key : {"latency_ms", "latency_max_ms", "interval_ms"})
            CHECK(computed.at(key) == timed.at(key));
    }
}

TEST_CASE("A program file has the latency of its batches, and assembly without batches has none",
          "[system]") {
    const Folder folder;
    const std::string program = (folder / "net.tpu").string();
    const std::string network = folder.file("net.json", depthwise);
    CHECK(sim("compile --random-input 1 --model " + network +
              " --machine tpu_v1 --batch 8 --limit 24 --output " + program)
              .exit_code == 0);
    const Json compiled = report_of("--machine tpu_v1 --timing-only --program " + program);
    const Json run = report_of("--machine tpu_v1 --timing-only --batch 8 --limit 24 --model " + network);
    for (const char* key : {"cycles", "latency_ms", "latency_max_ms", "interval_ms"}) {
        INFO(key);
        CHECK(compiled.at(key) == run.at(key));
    }
    const Json bare = report_of("docs/micro_benchmarks/tile_cost.asm --machine tpu_v1");
    for (const char* key : {"latency_ms", "latency_max_ms", "interval_ms"}) CHECK(bare.at(key).is_null());
}

TEST_CASE("Text and advice name latency and interval", "[system]") {
    const std::string run = "run configs/runs/mnist_cnn.json --timing-only --batch 16 --limit ";
    const std::string one = sim(run + "16").out;
    CHECK_THAT(one, Catch::Contains("latency ") && Catch::Contains("of the one batch"));
    CHECK(one.find("a batch every") == std::string::npos);
    CHECK_THAT(sim(run + "64").out,
               Catch::Contains("mean of 4 batches, at most ") && Catch::Contains("a batch every"));
    const Json advice = sim("advise configs/runs/mnist_cnn.json --batches 4,16 --sizes 1 --json").json();
    for (const Json& point : advice.at("points")) {
        CHECK(ms(point, "latency_ms") >= ms(point, "interval_ms"));
        CHECK(ms(point, "interval_ms") == Approx(1e3 * point.at("batch").get<double>() /
                                                 point.at("inferences_per_second").get<double>()));
    }
}

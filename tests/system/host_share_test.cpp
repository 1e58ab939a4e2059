// Layers with multiply-accumulates that run on the host: the run says so before all figures, and has no
// figure of the chip's speed where the chip has none of them.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/random_runs.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using tests::report_of;
using tests::sim;

namespace {

const std::string timed = "--machine tpu_v1 --timing-only --batch 2 --limit 4 --model ";

void append_weights(tests::OnnxModel& model, const std::string& name, const tests::Extents& shape) {
    std::size_t elements = 1;
    for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
    model.floats(name, shape, std::vector<float>(elements, 0.01F));
}

/// A transposed convolution, which the chip cannot compute: 5 x 4 pixels of 3 channels write kernels of 2 x 3
/// for 6 channels.
constexpr std::uint64_t transposed_macs = 5 * 4 * 3 * 2 * 3 * 6;

std::string transposed_alone() {
    tests::OnnxModel model;
    model.input("x", {1, 3, 5, 4});
    append_weights(model, "w", {3, 6, 2, 3});
    tests::with_attribute(model.node("ConvTranspose", {"x", "w"}, {"y"}), "strides", {2, 2});
    model.output("y");
    return model.bytes();
}

/// A convolution before it, with 1 x 1 windows: 5 x 4 pixels, 7 channels, 3 filters.
constexpr std::uint64_t convolution_macs = 5 * 4 * 7 * 3;

std::string both() {
    tests::OnnxModel model;
    model.input("x", {1, 7, 5, 4});
    append_weights(model, "v", {3, 7, 1, 1});
    model.node("Conv", {"x", "v"}, {"c"});
    append_weights(model, "w", {3, 6, 2, 3});
    tests::with_attribute(model.node("ConvTranspose", {"c", "w"}, {"y"}), "strides", {2, 2});
    model.output("y");
    return model.bytes();
}

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void check_all_on_host(const Json& report) {
    for (const char* const key : {"inferences_per_second", "seconds_per_batch", "interval_ms", "latency_ms",
                                  "latency_max_ms", "claim", "host_time", "requests"}) {
        CAPTURE(key);
        CHECK(report.at(key).is_null());
    }
    CHECK(report["tops"]["achieved"].is_null());
    CHECK(report["energy"]["joules_per_inference"].is_null());
    CHECK(report["comparison"].empty());
    CHECK(report["matrix_unit"]["multiply_accumulates"] == 0);
}

}  // namespace

TEST_CASE("A run whose multiply-accumulates are all on the host has no figure of the chip's speed",
          "[system][host]") {
    const tests::Folder folder;
    const std::string run = timed + folder.file("net.onnx", transposed_alone()) + " --baseline k80";
    const Json report = report_of(run + " --set latency_limit_ms=7");
    check_all_on_host(report);
    const Json& share = report["host_share"];
    CHECK(share["macs_share"] == 1.0);
    CHECK(share["layers"] == Json::array({{{"name", "n_y"}, {"macs_per_inference", transposed_macs}}}));
    CHECK(share["macs_per_inference"] == transposed_macs);
    CHECK(share["seconds"].get<double>() > 0.0);
    CHECK(share["seconds_share"].get<double>() ==
          Approx(share["seconds"].get<double>() / report["seconds"].get<double>()));

    const std::vector<std::string> lines = lines_of(sim("run " + run).out);
    REQUIRE(lines.size() > 3);
    CHECK(lines[1].empty());
    CHECK(lines[2].find("on the host") != std::string::npos);
    CHECK(lines[2].find("100.0 %   of the multiply-accumulates: n_y;") != std::string::npos);
    const tests::Outcome summary = sim("run " + run + " --show summary");
    CHECK(summary.out.find("inf/s") == std::string::npos);
    CHECK(summary.out.find("OPS") == std::string::npos);
}

TEST_CASE("Layers on the host come before all other figures, with their shares", "[system][host]") {
    const tests::Folder folder;
    const std::string run = timed + folder.file("net.onnx", both()) + " --baseline k80";
    const Json report = report_of(run);
    const Json& share = report["host_share"];
    CHECK(share["layers"].size() == 1);
    CHECK(share["macs_per_inference"] == transposed_macs);
    // The time to compute, without the transfers for which the array waits as well.
    double computing = 0.0;
    for (const Json& operation : report["host_operations"]) {
        if (operation["kind"] == "segment") computing += operation["seconds"].get<double>();
    }
    CHECK(share["seconds"].get<double>() == Approx(computing));
    const double waits = report["matrix_unit"]["non_matrix_reasons"]["host_cycles"];
    CHECK(share["seconds_share"].get<double>() <= (1.0 + 1e-9) * waits / report["cycles"].get<double>());
    const std::string text = sim("run " + run + " --show summary").out;
    CHECK(text.find("computing") != std::string::npos);
    CHECK(share["macs_share"].get<double>() ==
          Approx(static_cast<double>(transposed_macs) / (transposed_macs + convolution_macs)));
    CHECK(report["inferences_per_second"].get<double>() > 0.0);
    // A baseline does all of the network.
    const double bound = 2.8e12 / (2.0 * (transposed_macs + convolution_macs));
    CHECK(report["comparison"][0]["inferences_per_second"].get<double>() <= bound * (1.0 + 1e-9));
    CHECK(lines_of(sim("run " + run).out).at(2).find("on the host") != std::string::npos);

    // Without such layers nothing is said.
    const std::string chip = report_of("mnist_cnn --timing-only").dump();
    CHECK(Json::parse(chip)["host_share"].is_null());
    CHECK(sim("run mnist_cnn --timing-only").out.find("on the host") == std::string::npos);
}

namespace {

/// A random network of layers without multiply-accumulates that the host computes: one to three.
std::string random_on_host(std::mt19937& random) {
    tests::OnnxModel model;
    model.input("x", {1, 2, 4, 5});
    std::string before = "x";
    const auto layers = static_cast<std::uint32_t>(1 + random() % 3);
    for (std::uint32_t i = 0; i < layers; ++i) {
        std::string after = "y";
        after += std::to_string(i);
        const std::array<const char*, 3> kinds{"LogSoftmax", "LpNormalization", "MeanVarianceNormalization"};
        model.node(kinds.at(random() % kinds.size()), {before}, {after});
        before = after;
    }
    model.output(before);
    return model.bytes();
}

}  // namespace

TEST_CASE("A run whose layers are all on the host has no figure of the chip's speed, and says so",
          "[system][host]") {
    const tests::Folder folder;
    constexpr std::uint32_t seed = 6200;
    for (std::uint32_t number = 0; number < tests::random_runs(6); ++number) {
        CAPTURE(seed + number);
        std::mt19937 random(seed + number);
        const std::string net = folder.file("net.onnx", random_on_host(random));
        const std::string run =
            "--machine tpu_v1 --random-input 1 --batch 2 --limit 4 --baseline k80 --model " + net;
        const Json report = report_of(run + " --arrivals 1000 --latency-limit 7ms");
        if (report["matrix_unit"]["active_cycles"] != 0 || report["host_operations"].empty()) {
            FAIL("the chip computes such layers now: take others");
        }
        check_all_on_host(report);
        CHECK(report["host_share"].is_null());
        const Json& left_out = report["left_out"];
        for (const char* const what : {"speed", "requests", "comparison"}) {
            CHECK_THAT(left_out.at(what).get<std::string>(), Catch::Contains("on the host: "));
        }
        const std::string text = sim("run " + run).out;
        CHECK_THAT(text, Catch::Contains("throughput") && Catch::Contains("the chip computes nothing"));
        CHECK_THAT(text, Catch::Contains("no comparison: ") && !Catch::Contains("inf/s"));
        CHECK(sim("advise --machine tpu_v1 --batches 1,2 --model " + net).exit_code == 2);
    }
}

TEST_CASE("A part of the text that is asked for is there, or says why not", "[system][host]") {
    const tests::Folder folder;
    const std::string host = folder.file("host.onnx", transposed_alone());
    const std::string pool = folder.file("pool.json", R"({"schema": "sim.graph/1", "name": "net",
        "input": {"shape": [6, 5, 4]}, "weights": {"seed": 1}, "output": "l",
        "layers": [{"name": "l", "op": "max_pool", "inputs": ["input"], "kernel": 2}]})");
    for (const std::string& model : {host, pool, std::string("mnist_cnn")}) {
        for (const char* const asked : {"", " --baseline k80", " --arrivals 1000", " --latency-limit 7ms"}) {
            for (const char* const part :
                 {"summary", "matrix_unit", "bounds", "layers", "traffic", "accuracy", "requests", "energy",
                  "area", "comparison", "claim", "host"}) {
                const std::string run =
                    std::string(part) == "accuracy" ? " --random-input 1" : " --timing-only";
                const tests::Outcome outcome = sim("run --machine tpu_v1 --limit 2 --batch 2 --model " +
                                                   model + run + asked + " --show " + part);
                CAPTURE(model, asked, part, outcome.err);
                CHECK(outcome.exit_code == 0);
                CHECK_FALSE(outcome.out.empty());
            }
        }
        // Without --show, what the run asks for.
        const std::string text = sim("run --machine tpu_v1 --limit 2 --batch 2 --timing-only --model " +
                                     model + " --arrivals 1000 --baseline k80")
                                     .out;
        CAPTURE(text);
        CHECK((text.find("Requests at random") != std::string::npos) !=
              (text.find("no requests: ") != std::string::npos));
        CHECK((text.find("Comparison, die against die") != std::string::npos) !=
              (text.find("no comparison: ") != std::string::npos));
    }
}

TEST_CASE("The host's work after the program pays a launch for each batch", "[system][host]") {
    const auto softmax = [](int batch) {
        const Json report =
            report_of("mnist_cnn --timing-only --host k80 --limit 500 --batch " + std::to_string(batch));
        for (const Json& operation : report["host_operations"]) {
            if (operation["kind"] == "softmax") return operation["seconds"].get<double>();
        }
        throw std::runtime_error("no softmax");
    };
    const Json k80 = Json::parse(tests::text_in(tests::project / "configs/baselines/k80.json"));
    const double launch = k80["efficiency"]["layer_microseconds"].get<double>() * 1e-6;
    const double work = softmax(500) - launch;
    CHECK(work > 0.0);
    CHECK(softmax(1) == Approx(500 * launch + work));
    CHECK(softmax(10) == Approx(50 * launch + work));
    CHECK(softmax(300) == Approx(2 * launch + work));
}

TEST_CASE("A program file keeps what the host does of the network", "[system][host]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.onnx", both());
    const auto path = [&](const char* name) { return (folder / name).string(); };
    const std::string compile =
        "compile --machine tpu_v1 --model " + model + " --random-input 1 --limit 2 --batch 2";
    REQUIRE(sim(compile + " -o " + path("net.tpu")).exit_code == 0);
    REQUIRE(sim("disasm " + path("net.tpu") + " -o " + path("net.asm")).exit_code == 0);
    CHECK(tests::text_in(folder / "net.asm").find("macs=" + std::to_string(transposed_macs) + "\n") !=
          std::string::npos);
    REQUIRE(sim("asm " + path("net.asm") + " -o " + path("again.tpu")).exit_code == 0);
    CHECK(tests::text_in(folder / "again.tpu") == tests::text_in(folder / "net.tpu"));
    const Json network = report_of("--machine tpu_v1 --random-input 1 --limit 2 --batch 2 --model " + model);
    const Json program = report_of("--machine tpu_v1 --random-input 1 --program " + path("net.tpu"));
    CHECK(program["host_share"] == network["host_share"]);
}

TEST_CASE("Studies and advice have no figure of a chip that does nothing", "[system][host]") {
    const tests::Folder folder;
    const std::string alone = folder.file("net.onnx", transposed_alone());
    const tests::Outcome nothing = sim("advise --machine tpu_v1 --model " + alone + " --batches 1,2");
    CHECK(nothing.exit_code == 2);
    CHECK(
        nothing.err.find("no figure of the speed of tpu_v1: all multiply-accumulates run on the host: n_y") !=
        std::string::npos);
    const std::string study = "sweep --timing-only --axis batch=1,2 --machine tpu_v1 --model ";
    CHECK_THAT(tests::in_one_line(sim(study + alone).out),
               Catch::Contains("2 of 2 points have no speed of the chip: all multiply-accumulates run on the "
                               "host: n_y (point 1 first)."));
    const std::string partly = folder.file("partly.onnx", both());
    CHECK_THAT(tests::in_one_line(sim(study + partly).out),
               Catch::Contains("host_share.macs_share: multiply-accumulates that run on the host"));
    CHECK_THAT(sim(study + "mnist_cnn").out, !Catch::Contains("host_share"));
    CHECK_THAT(sim(study + partly + " --metric 'y=cycles/0>1'").out,
               Catch::Contains("No point has a value of y = cycles/0>1"));
    const tests::Outcome some =
        sim("advise --machine tpu_v1 --model " + folder.file("both.onnx", both()) + " --batches 1,2");
    INFO(some.err);
    CHECK(some.exit_code == 0);
    CHECK(some.out.find("of the multiply-accumulates run on the host") != std::string::npos);
}

TEST_CASE("The host's time includes the launch of each layer and the memory that software reaches",
          "[system][host]") {
    const tests::Folder folder;
    const std::string run = timed + folder.file("net.onnx", transposed_alone()) + " --host ";
    const auto segment = [](const Json& report) {
        for (const Json& operation : report["host_operations"]) {
            if (operation["kind"] == "segment") return operation;
        }
        throw std::runtime_error("no segment");
    };
    const auto baseline = [](const char* name) {
        return Json::parse(
            tests::text_in(tests::project / "configs/baselines" / (std::string(name) + ".json")));
    };
    for (const char* const name : {"haswell_e5_2699_v3", "k80"}) {
        CAPTURE(name);
        const Json file = baseline(name);
        const Json report = report_of(run + name);
        const double seconds = segment(report)["seconds"];
        // Two batches of two images: the input of each image, and the weights for each batch, at least. As
        // integers, which have one byte: the host's floats take more.
        const double launches = 2.0 * static_cast<double>(segment(report)["layers"].size()) *
                                file["efficiency"]["layer_microseconds"].get<double>() * 1e-6;
        constexpr double images = 4.0;
        constexpr double batches = 2.0;
        const double bytes = images * (5 * 4 * 3) + batches * (3 * 6 * 2 * 3);
        const double memory = bytes / (file["memory_gb_per_s"].get<double>() * 1e9 *
                                       file["efficiency"]["memory_share"].get<double>());
        CHECK(seconds >= launches + memory);
        CHECK(report["seconds"].get<double>() >= seconds);
    }
    // Without an efficiency, the roofline is all that is known.
    Json ideal = baseline("haswell_e5_2699_v3");
    ideal.erase("efficiency");
    Json sources = Json::object();
    for (const auto& [key, source] : ideal["sources"].items()) {
        if (!key.starts_with("efficiency")) sources[key] = source;
    }
    ideal["sources"] = sources;
    const std::string other = folder.file("ideal.json", ideal.dump());
    CHECK(segment(report_of(run + other))["seconds"].get<double>() <
          segment(report_of(run + "haswell_e5_2699_v3"))["seconds"].get<double>());
    CHECK(report_of(run + other)["host_at_least"] == true);
    CHECK(report_of(run + "k80")["host_at_least"] == false);
    CHECK(sim("run " + run + other).out.find("at least; ") != std::string::npos);
    CHECK(sim("run " + run + "k80").out.find("at least; ") == std::string::npos);
}

TEST_CASE("Networks of others whose work leaves the chip have no figure of its speed", "[system][host]") {
    const auto name = GENERATE(as<std::string>(), "qdq_int16_zero_point", "resize_tie");
    const std::filesystem::path folder = tests::foreign_data / "cases" / name;
    if (!std::filesystem::exists(folder)) {
        WARN("SKIPPED: " << folder << " is not there");
        return;
    }
    check_all_on_host(report_of("--machine tpu_v1 --model " + (folder / "net.onnx").string() + " --input " +
                                (folder / "inputs.npz").string()));
}

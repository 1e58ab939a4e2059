// Layers that the chip cannot compute, in the middle of a network: the host computes them, in the run's time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using tests::report_of;
using tests::sim;

namespace {

/// Attention over 64 features: the softmax of a dense layer weights them; the next layer reads both.
const std::string attention = R"({
  "schema": "sim.graph/1", "name": "attention", "input": {"shape": [64]}, "weights": {"seed": 4},
  "layers": [
    {"name": "features", "op": "dense", "inputs": ["input"], "units": 64, "activation": "relu"},
    {"name": "scores", "op": "dense", "inputs": ["features"], "units": 64},
    {"name": "shares", "op": "softmax", "inputs": ["scores"]},
    {"name": "weighted", "op": "multiply", "inputs": ["features", "shares"]},
    {"name": "hidden", "op": "dense", "inputs": ["features", "weighted"], "units": 40, "activation": "relu"},
    {"name": "classes", "op": "dense", "inputs": ["hidden"], "units": 10},
    {"name": "probabilities", "op": "softmax", "inputs": ["classes"]}],
  "output": "probabilities"})";

Json segment_of(const Json& report) {
    for (const Json& operation : report.at("host_operations")) {
        if (operation["kind"] == "segment") return operation;
    }
    throw std::runtime_error("the report lists no segment");
}

}  // namespace

TEST_CASE("A softmax inside a network runs on the host, in the time of the run", "[system][host]") {
    const tests::Folder folder;
    const std::string run = "--machine tpu_v1 --batch 20 --limit 50 --random-input 1 --model " +
                            folder.file("net.json", attention);
    Json report = report_of(run + " --float-reference");
    // The answers are those of the float network, within the error of 8 bits.
    CHECK(report["float_reference"]["agreements"].get<int>() > 40);
    const std::vector<int> predictions = report["predictions"];
    CHECK(std::set<int>(predictions.begin(), predictions.end()).size() > 2);
    CHECK(report["host"] == "haswell_e5_2699_v3");

    const Json segment = segment_of(report);
    CHECK(segment.at("layer") == "shares");
    CHECK(segment.at("layers") == Json::array({"shares"}));
    CHECK(segment.at("images") == 50);
    const double seconds = segment.at("seconds");
    CHECK(seconds > 0);
    CHECK(segment.at("share").get<double>() == Approx(seconds / report["seconds"].get<double>()));
    // The last softmax is work on the output, which takes no cycles.
    const Json& all = report["host_operations"];
    CHECK(std::count_if(all.begin(), all.end(), [](const Json& each) { return each["kind"] == "softmax"; }) ==
          1);

    // Both transfers are timed, and the matrix unit's waiting for the host has its reason.
    CHECK(report["units"]["host"]["segments"] == 3);
    CHECK(report["units"]["host"]["images"] == 50);
    CHECK(report["units"]["host_interface"]["write_bytes"] == 50 * (64 + 10));
    const Json& reasons = report["matrix_unit"]["non_matrix_reasons"];
    CHECK(reasons.at("host_cycles").get<std::uint64_t>() > 0);
    std::uint64_t sum = 0;
    for (const auto& [reason, cycles] : reasons.items()) sum += cycles.get<std::uint64_t>();
    CHECK(sum == report["matrix_unit"]["non_matrix_cycles"].get<std::uint64_t>());

    // Every engine gives the same; a run without values takes the same time.
    const std::string small =
        " --set machine.matrix_unit.rows=32 --set machine.matrix_unit.columns=16"
        " --set machine.unified_buffer.rows=65536 --set machine.matrix_unit.engine=";
    Json cells = report_of(run + small + "pe");
    Json waves = report_of(run + small + "wavefront");
    for (const char* const key : {"cycles", "units", "layers", "predictions", "host_operations"}) {
        CAPTURE(key);
        CHECK(cells[key] == waves[key]);
    }
    CHECK(cells["predictions"] == report["predictions"]);
    Json timing = report_of("--machine tpu_v1 --batch 20 --limit 50 --timing-only --model " +
                            (folder / "net.json").string());
    for (const char* const key : {"cycles", "units", "layers", "host_operations"}) {
        CAPTURE(key);
        CHECK(timing[key] == report[key]);
    }
}

TEST_CASE("A slower host takes more of the run's cycles", "[system][host]") {
    const tests::Folder folder;
    const std::string run =
        "--machine tpu_v1 --batch 50 --limit 50 --timing-only --model " + folder.file("net.json", attention);
    std::ifstream file(tests::project / "configs/baselines/haswell_e5_2699_v3.json");
    Json slow = Json::parse(file);
    slow["name"] = "slow";
    slow["peak_fp32_gflops"] = slow["peak_fp32_gflops"].get<double>() / 1e5;
    Json fast = report_of(run);
    Json slower = report_of(run + " --host " + folder.file("slow.json", slow.dump()));
    CHECK(slower["host"] == "slow");
    const double more =
        segment_of(slower)["seconds"].get<double>() - segment_of(fast)["seconds"].get<double>();
    CHECK(more > 0);
    // All images wait for the host: its time is the run's.
    CHECK(slower["seconds"].get<double>() - fast["seconds"].get<double>() == Approx(more).epsilon(0.01));
    CHECK(slower["matrix_unit"]["active_cycles"] == fast["matrix_unit"]["active_cycles"]);
    CHECK(slower["matrix_unit"]["non_matrix_reasons"]["host_cycles"].get<double>() >
          0.9 * more * slower["cycles"].get<double>() / slower["seconds"].get<double>());
}

TEST_CASE("A run is explained with its own host", "[system][host]") {
    const tests::Folder folder;
    std::ifstream file(tests::project / "configs/baselines/haswell_e5_2699_v3.json");
    Json slow = Json::parse(file);
    slow["name"] = "slow";
    slow["peak_fp32_gflops"] = slow["peak_fp32_gflops"].get<double>() / 1e5;
    const tests::Outcome outcome =
        sim("run --machine tpu_v1 --batch 50 --limit 50 --timing-only --model " +
            folder.file("net.json", attention) + " --host " + folder.file("slow.json", slow.dump()) +
            " --out " + (folder / "out").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json report = Json::parse(tests::text_in(folder / "out/report.json"));
    const auto& reasons = report["matrix_unit"]["non_matrix_reasons"];
    REQUIRE(reasons["host_cycles"].get<double>() > 0.9 * report["cycles"].get<double>());
    CHECK_THAT(report["explanation"]["text"].get<std::string>(), Catch::StartsWith("Host-bound: "));
}

TEST_CASE("A program with a segment is a file and a text, and computes the same", "[system][host]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.json", attention);
    const auto path = [&](const char* name) { return (folder / name).string(); };
    REQUIRE(sim("compile --machine tpu_v1 --model " + model + " --random-input 1 --limit 5 --batch 5 -o " +
                path("net.tpu"))
                .exit_code == 0);
    REQUIRE(sim("disasm " + path("net.tpu") + " -o " + path("net.asm")).exit_code == 0);
    const std::string text = tests::text_in(folder / "net.asm");
    CHECK(text.find(".host_segment shares operations=704 bytes=128\n.computes shares\n") !=
          std::string::npos);
    CHECK(text.find("host_work segment=0 first=0 images=5\n") != std::string::npos);
    REQUIRE(sim("asm " + path("net.asm") + " -o " + path("again.tpu")).exit_code == 0);
    CHECK(tests::text_in(folder / "again.tpu") == tests::text_in(folder / "net.tpu"));
    Json compiled = report_of("--machine tpu_v1 --random-input 1 --limit 5 --batch 5 --model " + model);
    Json program = report_of("--machine tpu_v1 --random-input 1 --program " + path("net.asm"));
    for (const char* const key : {"cycles", "predictions", "host_operations"}) {
        CAPTURE(key);
        CHECK(program[key] == compiled[key]);
    }
}

TEST_CASE("The text and the page of a run list the host's segments", "[system][host]") {
    const tests::Folder folder;
    const tests::Outcome outcome =
        sim("run --machine tpu_v1 --batch 8 --limit 8 --random-input 1 --out " + (folder / "out").string() +
            " --model " + folder.file("net.json", attention));
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out.find("Work of the host, in the time above") != std::string::npos);
    CHECK(outcome.out.find("Left to the host, not in the time above") != std::string::npos);
    CHECK(outcome.out.find("(the host is haswell_e5_2699_v3; --host names another)") != std::string::npos);
    CHECK(outcome.out.find("not timed") == std::string::npos);
}

TEST_CASE("The host alone computes several images of a network without work for the chip", "[system][host]") {
    const tests::Folder folder;
    const std::string network = R"({
      "schema": "sim.graph/1", "name": "shares", "input": {"shape": [64]}, "weights": {"seed": 4},
      "layers": [
        {"name": "shares", "op": "softmax", "inputs": ["input"]},
        {"name": "again", "op": "softmax", "inputs": ["shares"]}],
      "output": "again"})";
    const Json report = report_of("--machine tpu_v1 --batch 1 --limit 3 --random-input 1 --model " +
                                  folder.file("net.json", network));
    CHECK(report["inferences"] == 3);
    CHECK(report["matrix_unit"]["active_cycles"] == 0);
    CHECK(report["units"]["host_interface"]["read_bytes"] == 0);
}

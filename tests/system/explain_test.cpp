// `sim explain`, and the same explanations in report.json. The speedup of a change is that of a run with the
// change.
#include <catch2/catch.hpp>
#include <string>

#include "tests/system/sim_process.h"

namespace systole::tests {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::string& arguments) {
    const Outcome outcome = sim(arguments);
    INFO(arguments << ": " << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return Json::parse(outcome.out);
}

std::string settings_of(const Json& what_if) {
    std::string options;
    for (const Json& setting : what_if["settings"]) options += " --set " + setting.get<std::string>();
    return options;
}

double seconds_an_inference(const Json& report) {
    return report["seconds"].get<double>() / report["inferences"].get<double>();
}

}  // namespace

TEST_CASE("The speedup of a change is that of a run with this change", "[system][explain]") {
    const std::string run =
        GENERATE(as<std::string>(), "mnist_cnn --limit 64 --batch 16",
                 "--machine tpu_v1 --model models/isca17/mlp1.json --random-input 1 --batch 8",
                 "--machine tpu_v1 --model models/isca17/cnn0.json --random-input 1 --batch 8",
                 "--machine edge_tpu_usb --model models/mnist_cnn/mnist_cnn.tflite --random-input 4",
                 "--machine tpu_v2_8 --model mnist_cnn --random-input 64 --batch 64");
    const Json why = json_of("explain --json " + run);
    const double base = seconds_an_inference(json_of("run --json --timing-only " + run));
    REQUIRE_FALSE(why["what_ifs"].empty());
    for (const Json& what_if : why["what_ifs"]) {
        INFO(what_if.dump());
        REQUIRE(what_if["error"] == "");
        const Json changed = json_of("run --json --timing-only " + run + settings_of(what_if));
        CHECK(what_if["speedup"].get<double>() == Approx(base / seconds_an_inference(changed)));
    }
}

TEST_CASE("A report explains the cycles of each layer", "[system][explain]") {
    const Folder folder;
    const Outcome outcome =
        sim("run mnist_cnn --limit 64 --batch 16 --quiet --out " + (folder / "r").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json report = Json::parse(text_in(folder / "r" / "report.json"));
    for (const Json& layer : report["layers"]) {
        INFO(layer["name"]);
        CHECK_FALSE(layer["explanation"].get<std::string>().empty());
    }
    CHECK(report["explanation"]["text"] == json_of("explain --json mnist_cnn --limit 64 --batch 16")["text"]);

    const std::string text = sim("explain mnist_cnn --limit 64 --batch 16").out;
    CHECK(text.find("windows of several pixels") != std::string::npos);
    CHECK(text.find("would run it at") != std::string::npos);
    const std::string single = sim("explain mnist_cnn --limit 64 --batch 16 --mapping as_published").out;
    CHECK(single.find("12 of 256 columns") != std::string::npos);
}

TEST_CASE("A run without explanations has none in its report", "[system][explain]") {
    const Folder folder;
    const std::string out = (folder / "r").string();
    REQUIRE(sim("run mnist_cnn --limit 8 --quiet --no-explain --out " + out).exit_code == 0);
    const Json report = Json::parse(text_in(folder / "r" / "report.json"));
    CHECK_FALSE(report.contains("explanation"));
    CHECK_FALSE(report["layers"][0].contains("explanation"));
}

TEST_CASE("A run with other accumulators says how to learn whether they make it slower",
          "[system][explain]") {
    const std::string run = "run mnist_cnn --limit 8 --show summary ";
    const std::string lines =
        "  with accumulators.rows = 16384\n"
        "    (sim explain says whether this makes the run slower, and why)\n";
    CHECK(sim(run + "--set machine.accumulators.rows=16384").out.find(lines) != std::string::npos);
    CHECK(sim(run + "--set machine.clock_mhz=350").out.find("sim explain") == std::string::npos);
    const Folder folder;
    const Outcome explained =
        sim(run + "--set machine.accumulators.rows=16384 --out " + (folder / "r").string());
    CHECK(explained.out.find("with accumulators.rows") != std::string::npos);
    CHECK(explained.out.find("sim explain") == std::string::npos);
}

TEST_CASE("A program is explained by its tags, and an error of the run is reported", "[system][explain]") {
    const Outcome program = sim("explain docs/micro_benchmarks/sixteen_bit.asm --machine tpu_v1");
    INFO(program.err);
    CHECK(program.exit_code == 0);
    CHECK(program.out.find("-bound: ") != std::string::npos);
    CHECK(program.out.find("a 16, w 16 (") != std::string::npos);

    const Outcome wrong = sim("explain nothing.h5.json");
    CHECK(wrong.exit_code == 2);
    const Outcome machine = sim("explain mnist_cnn --set machine.weight_fifo.depth_tiles=0");
    CHECK(machine.exit_code == 2);
    CHECK(machine.err.find("depth_tiles") != std::string::npos);
    CHECK(machine.out.empty());
}

TEST_CASE("A run that fails writes its traces, with or without explanations", "[system][explain][trace]") {
    const Folder folder;
    const std::string dead = folder.file("dead.asm", ".array 8 8\nsync.wait matrix sem=0\nhalt\n");
    const Outcome outcome = sim("run " + dead +
                                " --machine tpu_v1 --set machine.matrix_unit.rows=8 --set "
                                "machine.matrix_unit.columns=8 --trace csv --out " +
                                (folder / "out").string());
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(std::filesystem::exists(folder / "out" / "instructions.csv"));
}

}  // namespace systole::tests

// Compares cycles, counters and answers of the shipped runs with tests/golden/shipped_runs.txt, so that no
// change moves them by accident. After an intended change, SYSTOLE_WRITE_GOLDEN=1 writes the file again;
// reviewers read its diff.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;

namespace {

const std::filesystem::path golden = tests::project / "tests/golden/shipped_runs.txt";

/// Arguments of `sim run`, all of files that the project ships.
std::vector<std::string> runs() {
    const std::string isca17 = "--machine tpu_v1 --model models/isca17/";
    const std::string asm_folder = "docs/micro_benchmarks/";
    const std::string cells = " --machine docs/micro_benchmarks/cells_3x2.json";
    std::vector<std::string> all{
        "mnist_cnn",
        "mnist_cnn --batch 16 --limit 40",
        "mnist_cnn --timing-only --machine tpu_v1_published",
        "mnist_cnn --timing-only --machine tpu_v1_dram",
        "mnist_cnn --limit 20 --batch 4 --set machine.matrix_unit.engine=pe"
        " --set machine.matrix_unit.rows=32 --set machine.matrix_unit.columns=48"
        " --set machine.unified_buffer.rows=65536",
        isca17 + "mlp0.json --timing-only --batch 200",
        isca17 + "mlp1.json --timing-only --batch 168",
        isca17 + "lstm0.json --timing-only --batch 64",
        isca17 + "lstm1.json --timing-only --batch 96",
        isca17 + "cnn0.json --timing-only --batch 8",
        isca17 + "cnn1.json --timing-only --batch 32",
        isca17 + "mlp1.json --random-input 1 --batch 24",
        isca17 + "lstm1.json --random-input 1 --batch 2",
        asm_folder + "article_convolution.asm --print edges:int8" + cells,
        asm_folder + "article_convolution.asm --print edges:int8" + cells +
            " --set machine.matrix_unit.engine=wavefront",
    };
    for (const char* name :
         {"tile_cost", "fifo_runs_dry", "sixteen_bit", "halves_in_turn", "wait_too_early"}) {
        for (const char* machine : {"tpu_v1", "tpu_v1_published", "tpu_v1_dram"}) {
            all.push_back(fmt::format("{}{}.asm --machine {}", asm_folder, name, machine));
        }
    }
    return all;
}

/// An FNV-1a hash, which stands for a long list.
std::uint64_t fingerprint(const std::string& text) {
    constexpr std::uint64_t prime = 0x100000001b3;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : text) hash = (hash ^ static_cast<std::uint8_t>(letter)) * prime;
    return hash;
}

std::string counters(const Json& group) {
    std::string text;
    for (const auto& [name, value] : group.items()) text += fmt::format(" {}={}", name, value.dump());
    return text;
}

std::string list(const Json& values) {
    constexpr std::size_t most_shown = 16;
    std::string text = fmt::format("{} #{:016x}", values.size(), fingerprint(values.dump()));
    for (std::size_t i = 0; i < std::min(values.size(), most_shown); ++i) text += " " + values[i].dump();
    return text;
}

/// The values of a run that must not change, line by line.
std::string summary(const std::string& arguments) {
    const Json report = tests::report_of(arguments);
    std::string text = fmt::format("== sim run {}\n", arguments);
    text += fmt::format("cycles {}\ninferences {}\ninstructions {}\n", report["cycles"].dump(),
                        report["inferences"].dump(), report["instructions"].dump());
    for (const auto& [unit, group] : report["units"].items()) text += unit + ":" + counters(group) + "\n";
    text += "unified buffer peak bytes " + report["memory"]["unified_buffer_peak_bytes"].dump() + "\n";
    text += "bounds:" + counters(report["bounds"]) + "\n";
    for (const Json& layer : report["layers"]) {
        const auto name = layer["name"].get<std::string>();
        text += fmt::format("layer {}: cycles={}{}\n", name, layer["cycles"].dump(),
                            counters(layer["matrix_unit"]));
        text += fmt::format("layer {} bounds:{}\n", name, counters(layer["bounds"]));
    }
    if (report.contains("predictions")) text += "predictions " + list(report["predictions"]) + "\n";
    if (report.contains("probabilities")) text += "probabilities " + list(report["probabilities"]) + "\n";
    if (report.contains("accuracy")) text += "accuracy " + report["accuracy"].dump() + "\n";
    if (report.contains("buffers")) {
        for (const Json& buffer : report["buffers"]) {
            text += fmt::format("buffer {}: {}\n", buffer["name"].get<std::string>(), list(buffer["values"]));
        }
    }
    return text;
}

}  // namespace

TEST_CASE("Shipped runs keep their cycles, counters and answers", "[system][golden]") {
    if (std::getenv("SYSTOLE_WRITE_GOLDEN") != nullptr) {
        std::ofstream file(golden);
        for (const std::string& run : runs()) file << summary(run);
        REQUIRE(file.good());
        return;
    }
    std::istringstream expected(tests::text_in(golden));
    std::string wanted;
    for (const std::string& run : runs()) {
        INFO("sim run "
             << run
             << "; if the change is intended: SYSTOLE_WRITE_GOLDEN=1 build/dev/system \"Shipped runs*\"");
        std::istringstream lines(summary(run));
        for (std::string line; std::getline(lines, line);) {
            wanted.clear();
            std::getline(expected, wanted);
            REQUIRE(line == wanted);
        }
    }
    std::getline(expected, wanted);
    CHECK(expected.eof());
}

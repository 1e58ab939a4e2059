// Sums over all cores from a graph file, as docs/cloud_tpu.md describes them.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using tests::report_of;
using tests::sim;

namespace {

constexpr std::size_t width = 12;

/// A graph file: `width` numbers are summed over the cores, and the sums have no negative numbers.
std::string sums(const tests::Folder& folder, const std::string& parts = "8") {
    return folder.file("sums.json", R"({
  "schema": "sim.graph/1", "name": "sums", "input": {"shape": [12]}, "weights": {"seed": 1},
  "layers": [
    {"name": "sum", "op": "all_reduce", "inputs": ["input"], "parts": )" +
                                        parts + R"(},
    {"name": "positive", "op": "relu", "inputs": ["sum"]}],
  "output": "positive"})");
}

/// The numbers of the one file in a folder, of which the last bytes have them all.
std::vector<float> numbers_in(const std::filesystem::path& folder, std::size_t count) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    REQUIRE(files.size() == 1);
    const std::string bytes = tests::text_in(files.front());
    std::vector<float> numbers(count);
    REQUIRE(bytes.size() > count * sizeof(float));
    std::memcpy(numbers.data(), bytes.data() + bytes.size() - count * sizeof(float), count * sizeof(float));
    return numbers;
}

std::vector<float> image(const std::vector<float>& numbers, std::size_t index) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(index * width);
    return {first, first + static_cast<std::ptrdiff_t>(width)};
}

}  // namespace

TEST_CASE("A graph file sums over eight cores, and the float reference sums the same images", "[system]") {
    const tests::Folder folder;
    const std::string chip = (folder / "chip").string();
    const std::string real = (folder / "real").string();
    const Json report = report_of("--machine tpu_v2_8 --model " + sums(folder) +
                                  " --random-input 1 --batch 16 --limit 32 --float-reference --outputs " +
                                  chip + " --float-outputs " + real);
    CHECK(report.at("inferences") == 32);
    CHECK(report.at("units").at("collective_unit").at("sent_bytes").get<std::uint64_t>() > 0);
    CHECK(report.at("float_reference").at("agreements") == 32);
    const std::vector<float> answers = numbers_in(chip, 32 * width);
    // Nothing but sums in float32: they have the same bits.
    CHECK(answers == numbers_in(real, 32 * width));
    // A core has two images of a batch: image i gets the sum of the images i of all cores.
    for (std::size_t i = 2; i < 16; ++i) {
        CAPTURE(i);
        CHECK(image(answers, i) == image(answers, i % 2));
        CHECK(image(answers, 16 + i) == image(answers, 16 + i % 2));
    }
    CHECK(image(answers, 0) != image(answers, 1));
    CHECK(image(answers, 0) != image(answers, 16));
}

TEST_CASE("Sums over cores are refused where the cores, the batch or the machine do not fit", "[system]") {
    const tests::Folder folder;
    const auto error_of = [&](const std::string& machine, const std::string& parts,
                              const std::string& options) {
        const tests::Outcome outcome = sim("run --machine " + machine + " --model " + sums(folder, parts) +
                                           " --random-input 1 " + options);
        CHECK(outcome.exit_code == 2);
        return outcome.err;
    };
    const std::string file = (folder / "sums.json").string();
    CHECK(error_of("tpu_v2_8", "4", "--batch 8 --limit 8") ==
          "sim: " + file +
              ": layer sum: parts is 4; machine tpu_v2_8 has 8 cores, and there must be one part for each\n");
    CHECK(error_of("tpu_v2_8", "8", "--batch 8 --limit 12") ==
          "sim: " + file +
              ": 12 inferences are no multiple of the batch of 8; the network sums over the images of a "
              "batch, and no batch may have fewer\n");
    CHECK_THAT(error_of("tpu_v2_8", "0", "--batch 8 --limit 8"), Catch::Contains("parts"));
    for (const char* const machine : {"edge_tpu_usb", "edge_tpu_pcie", "tpu_v1"}) {
        CAPTURE(machine);
        CHECK(error_of(machine, "8", "--limit 8 --batch 8") ==
              "sim: " + file +
                  ": layer \"sum\": all_reduce sums over the cores of a machine; only machines with tensor "
                  "cores do so\n");
    }
}

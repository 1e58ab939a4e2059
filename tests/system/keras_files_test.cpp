// Networks that other people saved with Keras, and their answers computed by another program.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/reference/executor.h"
#include "tests/system/sim_process.h"

using namespace systole;

namespace {

/// The numbers of an NPY file of float32.
std::vector<float> numbers_of(const std::filesystem::path& path) {
    const std::string bytes = tests::text_in(path);
    constexpr std::size_t before_header = 10;
    REQUIRE(bytes.size() > before_header);
    const auto byte = [&](std::size_t i) {
        return static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[i]));
    };
    const std::size_t begin = before_header + byte(8) + 256 * byte(9);
    REQUIRE(bytes.find("'<f4'") < begin);
    std::vector<float> numbers((bytes.size() - begin) / sizeof(float));
    std::memcpy(numbers.data(), bytes.data() + begin, numbers.size() * sizeof(float));
    return numbers;
}

/// The ratio of the expected numbers, without the mean of each inference, to the errors, in decibels.
double signal_to_noise(const std::vector<float>& results, const std::vector<float>& expected,
                       std::size_t batch) {
    const std::size_t each = expected.size() / batch;
    double signal = 0.0;
    double noise = 0.0;
    for (std::size_t first = 0; first < expected.size(); first += each) {
        double mean = 0.0;
        for (std::size_t i = first; i < first + each; ++i) mean += expected[i] / static_cast<double>(each);
        for (std::size_t i = first; i < first + each; ++i) {
            const double error = double{results[i]} - double{expected[i]};
            signal += (expected[i] - mean) * (expected[i] - mean);
            noise += error * error;
        }
    }
    return 10.0 * std::log10(signal / std::max(noise, 1e-30));
}

struct KerasNetwork {
    std::string file;
    double least_decibels;  ///< of the chip's answers, a bit below the measured ones
};

}  // namespace

TEST_CASE("Networks saved by other people give the answers of another program", "[system]") {
    const auto network = GENERATE(values<KerasNetwork>({{"afiliot_unet.h5", 30.0},
                                                        {"albany_mnist_keras3.keras", 50.0},
                                                        {"mlperf_streaming_ww.h5", 100.0},
                                                        {"oarriaga_mini_xception_fer.h5", 20.0},
                                                        {"stm_yamnet256_esc10.h5", 14.5}}));
    const std::filesystem::path path = tests::foreign_data / "keras" / network.file;
    if (!std::filesystem::exists(path)) {
        WARN("SKIPPED: " << path << " is not there");
        return;
    }
    INFO(network.file);
    const ir::Graph graph = frontend::read_network(path);
    const std::string stem = (path.parent_path() / path.stem()).string();
    const std::vector<float> input = numbers_of(stem + ".input.npy");
    const std::vector<float> expected = numbers_of(stem + ".output.npy");
    const auto batch = static_cast<std::uint32_t>(input.size() / graph.input().shape.elements());
    const std::vector<float> outputs = reference::execute(graph, input, batch);
    REQUIRE(outputs.size() == expected.size());
    float largest = 0.0F;
    float difference = 0.0F;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(outputs[i] - expected[i]));
    }
    CHECK(difference <= 1e-4F * largest);

    const tests::Folder folder;
    const std::string results = (folder / "results").string();
    const tests::Outcome outcome = tests::sim("run --machine tpu_v1 --quiet --model " + path.string() +
                                              " --input " + stem + ".input.npy --outputs " + results);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    std::vector<float> on_chip;
    for (const auto& entry : std::filesystem::directory_iterator(results)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".npy") && !name.ends_with(".raw.npy")) on_chip = numbers_of(entry.path());
    }
    REQUIRE(on_chip.size() == expected.size());
    CHECK(signal_to_noise(on_chip, expected, batch) >= network.least_decibels);
}

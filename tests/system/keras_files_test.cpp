// Networks that other people saved with Keras, and their answers computed by another program.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
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

struct KerasNetwork {
    std::string file;
    std::string refused = {};  ///< a word of the message, if an operator is missing
    bool runs_on_chip = true;
};

}  // namespace

TEST_CASE("Networks saved by other people give the answers of another program", "[system]") {
    const auto network =
        GENERATE(values<KerasNetwork>({{.file = "afiliot_unet.h5", .refused = "Conv2DTranspose"},
                                       {.file = "albany_mnist_keras3.keras"},
                                       {.file = "mlperf_streaming_ww.h5"},
                                       {.file = "oarriaga_mini_xception_fer.h5"},
                                       {.file = "stm_yamnet256_esc10.h5", .runs_on_chip = false}}));
    const std::filesystem::path path = tests::foreign_data / "keras" / network.file;
    if (!std::filesystem::exists(path)) {
        WARN("SKIPPED: " << path << " is not there");
        return;
    }
    INFO(network.file);
    if (!network.refused.empty()) {
        CHECK_THROWS_WITH(frontend::read_network(path, operators::registry()),
                          Catch::Contains(network.refused));
        return;
    }
    const ir::Graph graph = frontend::read_network(path, operators::registry());
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
    if (!network.runs_on_chip) return;
    const tests::Outcome outcome =
        tests::sim("run --machine tpu_v1 --random-input 1 --limit 2 --quiet --model " + path.string());
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
}

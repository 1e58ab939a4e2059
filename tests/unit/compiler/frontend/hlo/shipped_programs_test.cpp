// The training steps of models/: each multiplies and sums as often as its network does, and its state is as
// large as the file beside it says.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>

#include "compiler/frontend/hlo.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

struct Counts {
    std::uint64_t product_macs = 0;  ///< of a core
    std::uint64_t all_reduces = 0;
    std::uint64_t all_reduced = 0;  ///< numbers
    std::uint64_t transposes = 0;
};

Counts counts_of(const hlo::Module& module) {
    Counts counts;
    for (const hlo::Computation& computation : module.computations) {
        for (const hlo::Instruction& instruction : computation.instructions) {
            const std::uint64_t elements = module.shape_of(instruction).elements;
            if (instruction.opcode == hlo::Opcode::Dot) {
                const hlo::Shape& left =
                    module.shape_of(computation.instructions[instruction.operands.at(0)]);
                std::uint64_t macs = elements;
                for (const std::int64_t axis : hlo::attributes_of<hlo::Dot>(instruction).left_contracting)
                    macs *= static_cast<std::uint64_t>(left.dimensions.at(static_cast<std::size_t>(axis)));
                counts.product_macs += macs;
            } else if (instruction.opcode == hlo::Opcode::AllReduce) {
                ++counts.all_reduces;
                counts.all_reduced += elements;
            } else if (instruction.opcode == hlo::Opcode::Transpose) {
                ++counts.transposes;
            }
        }
    }
    return counts;
}

/// The first arrays that go in and come out are state, of one shape each; these are as many as the state's
/// file says. Behind them are the images and the labels, and the loss.
void check_state(const hlo::Module& module, const fs::path& file) {
    const hlo::Computation& entry = module.entry_computation();
    const hlo::Shape& result = module.shape_of(entry.instructions[entry.root]);
    REQUIRE(entry.parameters.size() == result.parts.size() + 1);
    const std::size_t state = result.parts.size() - 1;
    for (std::size_t i = 0; i < state; ++i)
        CHECK(entry.instructions[entry.parameters[i]].shape == result.parts[i]);
    CHECK(module.arguments.at(state) == "images");
    CHECK(module.arguments.at(state + 1) == "labels");
    CHECK(module.shapes[result.parts.back()].is_scalar(hlo::ElementType::F32));
    const std::string text = text_in(file);
    const std::string count = std::to_string(state);
    CHECK_THAT(text, Catch::Contains(R"("state": [{"input": "0", "output": "0", "count": )" + count + "}]"));
    CHECK_THAT(text, Catch::Contains(R"("columns": {"loss": ")" + count + "\"}"));
}

TEST_CASE("The digit network's steps sum each gradient, kept mean and result over the cores once", "[hlo]") {
    // Kernels, biases and offsets; the mean and variance of each feature; loss and accuracy.
    constexpr std::uint64_t trained = 108 + 10'368 + 55'296 + 627'200 + 2'000 + 10 + 300;
    constexpr std::uint64_t kept = 2 * 300;
    const fs::path folder = fs::path(source_dir()) / "models/mnist_cnn/training";
    for (const int images : {8, 16, 32, 64, 128, 256, 512, 1024}) {
        INFO(images);
        const Counts alone = counts_of(hlo::read_module(folder / fmt::format("step_{}.hlo", images)));
        CHECK(alone.all_reduces == 0);
        const Counts together = counts_of(hlo::read_module(folder / fmt::format("step_8x{}.hlo", images)));
        CHECK(together.all_reduces == 10 + 8 + 2);
        CHECK(together.all_reduced == trained + kept + 2);
        CHECK(together.product_macs == alone.product_macs);
    }
}

TEST_CASE("ParaDnn's steps multiply and sum as often as their networks", "[hlo]") {
    constexpr std::uint64_t cores = 8;
    const std::regex name(R"(fc_(\d+)x(\d+)_(\d+)_(\d+)_(\d+)\.hlo\.gz)");
    const fs::path folder = fs::path(source_dir()) / "models/paradnn";
    std::size_t programs = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::smatch parts;
        const std::string file = entry.path().filename();
        if (!std::regex_match(file, parts, name)) continue;
        INFO(file);
        ++programs;
        const auto number = [&](std::size_t part) { return std::stoull(parts[part].str()); };
        const std::uint64_t layers = number(1);
        const std::uint64_t nodes = number(2);
        const std::uint64_t inputs = number(3);
        const std::uint64_t outputs = number(4);
        const std::uint64_t images = number(5) / cores;
        const hlo::Module module = hlo::read_module(entry.path());
        CHECK(module.devices == cores);
        CHECK(module.name == "jit_" + file.substr(0, file.find('.')));
        const Counts counts = counts_of(module);
        // Forward, and the gradients of the kernels and of the inputs, but for those of the network.
        const std::uint64_t kernels = inputs * nodes + (layers - 1) * nodes * nodes + nodes * outputs;
        CHECK(counts.product_macs == images * (3 * kernels - inputs * nodes));
        const std::uint64_t biases = layers * nodes + outputs;
        CHECK(counts.all_reduces == 2 * (layers + 1) + 1);  // with the loss
        CHECK(counts.all_reduced == kernels + biases + 1);
        CHECK(counts.transposes == 0);
        check_state(module, folder / ("state_" + parts[1].str() + ".json"));
    }
    CHECK(programs == 79);
}

TEST_CASE("ResNet-50's steps sum each gradient and mean over the cores once", "[hlo]") {
    const fs::path folder = fs::path(source_dir()) / "models/resnet50/training";
    constexpr std::uint64_t convolutions = 53;
    constexpr std::uint64_t parameters = 25636712;  // Keras' count, with means and variances
    for (const auto& [file, cores] : {std::pair{"step_128.hlo", 1U}, std::pair{"step_8x128.hlo", 8U}}) {
        INFO(file);
        const hlo::Module module = hlo::read_module(folder / file);
        CHECK(module.devices == cores);
        const Counts counts = counts_of(module);
        // A kernel and a bias of each convolution, two weights and two means of each normalization, the
        // kernel and the bias of the last layer, and the loss.
        CHECK(counts.all_reduces == (cores == 1 ? 0 : 6 * convolutions + 2 + 1));
        CHECK(counts.all_reduced == (cores == 1 ? 0 : parameters + 1));
        CHECK(counts.product_macs == 3 * std::uint64_t{128} * 2048 * 1000);
        check_state(module, folder / "state.json");
    }
}

}  // namespace
}  // namespace systole::tests

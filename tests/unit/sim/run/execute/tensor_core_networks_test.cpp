// Networks of other people (../shared/data) and the article's own on a core of the Cloud TPU v2: the chip
// gives the bits of compiler/reference, which computes the prepared graph node by node.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/random_values.h"
#include "compiler/compile.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/reference/executor.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/sanitizers.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

/// Packed inputs in float32, for each input of a graph.
std::vector<Bytes> random_inputs(const ir::Graph& graph, std::uint32_t inferences) {
    std::vector<Bytes> inputs;
    std::uint32_t seed = 1;
    for (const ir::ValueId id : graph.inputs) {
        std::vector<float> numbers(inferences * graph.values[id].shape.elements());
        fill_random(numbers, 1.0F, seed++);
        Bytes& bytes = inputs.emplace_back(numbers.size() * sizeof(float));
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
    }
    return inputs;
}

/// What the chip gives, by output.
std::vector<Bytes> on_chip(const isa::Program& program, const machine::MachineConfig& machine,
                           const std::vector<Bytes>& inputs) {
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::Computed, .test_delta_delay = {}});
    std::size_t next = 0;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Input) continue;
        const std::span<std::uint8_t> room = system.host_bytes(buffer);
        const Bytes& bytes = inputs.at(next++);
        REQUIRE(room.size() == bytes.size());
        std::ranges::copy(bytes, room.begin());
    }
    system.run();
    std::vector<Bytes> outputs;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Output) continue;
        const std::span<const std::uint8_t> bytes = system.host_bytes(buffer);
        outputs.emplace_back(bytes.begin(), bytes.end());
    }
    return outputs;
}

/// Checks a network on `inferences` inferences, `batch` at a time.
void check(const fs::path& file, std::uint32_t inferences, std::uint32_t batch,
           const char* machine_file = "tpu_v2_1core.json") {
    INFO(file << " on " << machine_file);
    const machine::MachineConfig machine =
        machine::read_machine(fs::path(tests::source_dir()) / "configs/machines" / machine_file);
    const ir::Graph graph = compiler::ready_for_run(frontend::read_network(file));
    const ir::Graph prepared = compiler::prepare(graph, {}, machine);
    compiler::Options options;
    options.batches = {.batch = batch, .inferences = inferences};
    const isa::Program program = compiler::compile(graph, {}, machine, options).program;
    const std::vector<Bytes> inputs = random_inputs(prepared, inferences);
    const std::vector<std::span<const std::uint8_t>> views(inputs.begin(), inputs.end());
    const std::vector<reference::TensorBytes> expected = reference::run(prepared, views, inferences);
    const std::vector<Bytes> found = on_chip(program, machine, inputs);
    REQUIRE(found.size() == expected.size());
    for (std::size_t output = 0; output < found.size(); ++output) {
        INFO("output " << output);
        REQUIRE(found[output].size() == expected[output].size());
        const auto [ours, theirs] = std::ranges::mismatch(found[output], expected[output]);
        INFO("first wrong byte: " << (ours - found[output].begin()));
        CHECK((ours == found[output].end() && theirs == expected[output].end()));
    }
}

}  // namespace

TEST_CASE("The article's CNN gives the reference's bits on a tensor core", "[run][tensor_core]") {
    check(fs::path(tests::source_dir()) / "models/mnist_cnn/mnist_cnn.h5", 5, 2);
}

TEST_CASE("Eight cores give the reference's bits, each of its part of a batch, the last one padded",
          "[run][tensor_core]") {
    check(fs::path(tests::source_dir()) / "models/mnist_cnn/mnist_cnn.h5", 27, 16, "tpu_v2_8.json");
}

TEST_CASE("Networks of other people give the reference's bits on a tensor core",
          "[run][tensor_core][shared]") {
    const fs::path data = fs::path(tests::source_dir()) / "../shared/data";
    if (!fs::exists(data)) {
        WARN("SKIPPED: " << data << " is not there");
        return;
    }
    const std::set<std::string> small{"keras/albany_mnist_keras3.keras",
                                      "keras/oarriaga_mini_xception_fer.h5", "onnx/lprnet.onnx",
                                      "onnx/mnist_cntk.onnx", "onnx/resnet20_cifar10.onnx"};
    for (const char* const file :
         {"keras/afiliot_unet.h5", "keras/albany_mnist_keras3.keras", "keras/mlperf_streaming_ww.h5",
          "keras/oarriaga_mini_xception_fer.h5", "keras/stm_yamnet256_esc10.h5",
          "onnx/light_densenet121.onnx", "onnx/light_resnet50.onnx", "onnx/lprnet.onnx",
          "onnx/mnist_cntk.onnx", "onnx/resnet20_cifar10.onnx", "onnx/squeezenet_fp16.onnx"}) {
        if (tests::is_instrumented && !small.contains(file)) continue;
        check(data / file, 2, 2);
    }
}

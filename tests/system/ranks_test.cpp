// Whole networks on tensors of 1 to 6 axes: what the chip and the host compute together is what the integer
// reference computes, and about what the float network computes, in the order of the file's axes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/stored_integers.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/host_segments.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/ready_for_run.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/file_order.h"
#include "tests/support/quantized_outputs.h"
#include "tests/support/random_runs.h"
#include "tests/support/random_tensors.h"
#include "tests/support/truth.h"
#include "tests/system/sim_process.h"

namespace systole {
namespace {

using tests::Bytes;
using tests::RandomTensors;
using tests::Tensors;

/// Stored inputs of a quantized network, drawn within its calibration.
std::vector<Bytes> stored_inputs(const ir::Graph& quantized, const std::vector<std::vector<float>>& inputs) {
    std::vector<Bytes> stored;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ir::Value& value = quantized.values[quantized.inputs[i]];
        std::vector<std::int32_t> numbers(inputs[i].size());
        ir::store_numbers(inputs[i], value, numbers);
        stored.emplace_back(numbers.size() * bytes_of(value.type));
        narrow(numbers, value.type, stored.back().data());
    }
    return stored;
}

/// What the chip's program must write: the network's outputs, or what work of the host behind it reads.
std::vector<Bytes> expected_outputs(const ir::Graph& quantized, const std::vector<Bytes>& inputs,
                                    std::uint32_t inferences) {
    std::vector<ir::ValueId> wanted = quantized.outputs;
    if (wanted.size() == 1) wanted.front() = operators::program_output(quantized);
    std::vector<Bytes> values(quantized.values.size());
    const std::vector<std::span<const std::uint8_t>> spans(inputs.begin(), inputs.end());
    reference::run(quantized, spans, inferences, [&](ir::ValueId id, std::span<const std::uint8_t> bytes) {
        values[id].assign(bytes.begin(), bytes.end());
    });
    std::vector<Bytes> outputs;
    for (const ir::ValueId id : wanted) outputs.push_back(values[id]);
    return outputs;
}

std::vector<const isa::HostBuffer*> buffers_of(const isa::Program& program, isa::BufferKind kind) {
    std::vector<const isa::HostBuffer*> buffers;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind == kind) buffers.push_back(&buffer);
    }
    return buffers;
}

/// Runs a program on an engine and compares all its outputs.
template <typename Engine>
void check_outputs(Engine& engine, const isa::Program& program, const std::vector<Bytes>& inputs,
                   const std::vector<Bytes>& expected) {
    const auto in = buffers_of(program, isa::BufferKind::Input);
    const auto out = buffers_of(program, isa::BufferKind::Output);
    REQUIRE(in.size() == inputs.size());
    REQUIRE(out.size() == expected.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        REQUIRE(in[i]->bytes == inputs[i].size());
        std::ranges::copy(inputs[i], engine.host_bytes(*in[i]).begin());
    }
    engine.run();
    for (std::size_t i = 0; i < out.size(); ++i) {
        CAPTURE(i);
        const auto computed = engine.host_bytes(*out[i]);
        REQUIRE(Bytes(computed.begin(), computed.end()) == expected[i]);
    }
}

/// Runs a network on the chip, on the functional executor and on the reference. Returns the quantized
/// network; nothing if the chip cannot run it.
std::optional<ir::Graph> check_chip(const ir::Graph& graph, const Tensors& inputs,
                                    const mapping::Batches& options, RandomTensors& random) {
    const auto inferences = static_cast<std::uint32_t>(options.inferences);
    ir::Graph quantized;
    tpu_v1::Network network;
    try {
        quantized = ir::is_quantized(graph) ? passes::prepare(passes::ready_for_run(graph), {})
                                            : tests::quantized(graph, inputs, inferences);
        network = tpu_v1::lower(quantized);
    } catch (const ModelError&) {
        return std::nullopt;  // the chip has no work, or two outputs are one
    }
    INFO(ir::to_text(quantized));
    machine::MachineConfig machine;
    machine.matrix_unit.rows = random.between(3, 20);
    machine.matrix_unit.columns = random.between(3, 20);
    machine.unified_buffer.rows = 20000;
    const isa::Program program = tests::mapped_program(network, machine, options, machine::Mapping{});
    const std::vector<Bytes> stored = stored_inputs(quantized, tests::in_graph_order(quantized, inputs));
    const std::vector<Bytes> expected = expected_outputs(quantized, stored, inferences);
    tests::ReferenceHost host(program);
    functional::Executor executor(program, machine, &host);
    check_outputs(executor, program, stored, expected);
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.host = &host, .test_delta_delay = {}});
    check_outputs(system, program, stored, expected);
    return quantized;
}

Tensors inputs_for(const ir::Graph& graph, std::uint32_t inferences, RandomTensors& random) {
    Tensors inputs;
    for (const ir::ValueId input : graph.inputs) {
        inputs.push_back(random.numbers(inferences * graph.values[input].shape.elements()));
    }
    return inputs;
}

}  // namespace

TEST_CASE("Random networks of 1 to 6 axes: chip, functional executor and integer reference agree",
          "[system][truth][ranks]") {
    constexpr std::uint32_t first_seed = 38001;
    std::uint32_t compared = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(200); ++seed) {
        RandomTensors random(seed);
        const ir::Graph graph = random.draw();
        const mapping::Batches options{.batch = random.between(1, 3), .inferences = random.between(1, 5)};
        INFO("seed " << seed << ", batch " << options.batch << ", " << options.inferences << " inferences\n"
                     << ir::to_text(graph));
        const auto inferences = static_cast<std::uint32_t>(options.inferences);
        if (check_chip(graph, inputs_for(graph, inferences, random), options, random)) ++compared;
    }
    CHECK(compared >= tests::random_share(120));
}

TEST_CASE("Networks whose values have other axes than images compute what their files say",
          "[system][truth][ranks]") {
    const auto* const name =
        GENERATE("vector_product_softmax.onnx", "batch_norm_softmax.keras", "vector_product_mean.onnx",
                 "vector_product_concat.onnx", "transpose_leaky_relu.tflite");
    CAPTURE(name);
    const std::filesystem::path file = tests::foreign_data / "cases" / name;
    if (!std::filesystem::exists(file)) {
        WARN("skipped: " << file.string() << " is absent");
        return;
    }
    const ir::Graph graph = frontend::read_network(file);
    RandomTensors random(35);
    constexpr std::uint32_t inferences = 5;
    const Tensors inputs = inputs_for(graph, inferences, random);
    const auto quantized = check_chip(graph, inputs, {.batch = 2, .inferences = inferences}, random);
    REQUIRE(quantized.has_value());
    if (ir::is_quantized(graph)) {
        CHECK(tests::real_outputs(*quantized, inputs, inferences) ==
              tests::real_outputs(graph, inputs, inferences));
        return;
    }
    const Tensors expected = tests::run_in_file_order(graph, inputs, inferences);
    const Tensors outputs = tests::real_outputs(*quantized, inputs, inferences);
    REQUIRE(expected.size() == outputs.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(tests::relative_error(expected[i], outputs[i]) < 0.02);
    }
}

}  // namespace systole

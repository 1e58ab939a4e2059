// Inception modules: branches that are concatenated without copies, and pooling at those networks' sizes.
#include "tests/support/inception.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "compiler/passes/prepare.h"
#include "compiler/schedule/schedule.h"
#include "tests/support/truth.h"

namespace systole {
namespace {

using tests::Bytes;

quantized::Network prepared(const ir::Graph& graph, std::uint32_t seed) {
    constexpr std::uint32_t images = 4;
    tests::GraphParts parts(seed);
    return passes::prepare(graph, {.inputs = parts.values(images * graph.input().shape.elements(), 0.0F),
                                   .count = images,
                                   .encoding = {}});
}

Bytes random_bytes(std::uint64_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    Bytes bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

machine::MachineConfig machine_of(std::uint32_t rows, std::uint32_t columns) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = rows;
    machine.matrix_unit.columns = columns;
    machine.unified_buffer.rows = (4U << 20U) / rows;
    return machine;
}

template <typename Kind>
std::size_t count_of(const schedule::Schedule& schedule) {
    return static_cast<std::size_t>(std::ranges::count_if(
        schedule.operations, [](const auto& each) { return std::holds_alternative<Kind>(each); }));
}

/// A network of one pooling layer.
quantized::Network pooling(const ir::FeatureMap& input, const ir::FeatureMap& output,
                           const quantized::Pool& pool, bool is_signed) {
    quantized::Network network;
    network.name = "pooling";
    const std::int32_t zero_point = is_signed ? -3 : 3;
    for (const ir::FeatureMap& shape : {input, output}) {
        network.tensors.push_back({.name = "t",
                                   .shape = shape,
                                   .scale = 0.5,
                                   .zero_point = zero_point,
                                   .type = is_signed ? DataType::Int8 : DataType::Uint8});
    }
    network.layers = {{.name = "pool", .inputs = {0}, .output = 1, .operation = pool}};
    network.output = 1;
    return network;
}

}  // namespace

TEST_CASE("Inception modules concatenate without copies and compute the same everywhere",
          "[system][concat]") {
    struct Size {
        std::uint32_t rows, columns;
    };
    const Size size = GENERATE(Size{5, 3}, Size{16, 16}, Size{33, 20}, Size{256, 256});
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        INFO("seed " << seed << ", array " << size.rows << " x " << size.columns);
        const quantized::Network network = prepared(tests::small_inception(seed, {13, 11, 3}), seed);
        const machine::MachineConfig machine = machine_of(size.rows, size.columns);
        const schedule::Options options{.batch = 2, .inferences = 3};
        const schedule::Schedule schedule =
            schedule::make_schedule(network, tests::target_of(machine), options);
        CHECK(count_of<schedule::CopyLines>(schedule) == 0);
        CHECK(std::ranges::count_if(schedule.layers,
                                    [](const auto& layer) { return layer.kind == "concat"; }) == 3);
        tests::check_truth(
            network, machine, options,
            random_bytes(options.inferences * network.tensors[network.input].shape.elements(), seed));
    }
}

TEST_CASE("Inception modules take the same cycles on both engines", "[system][concat]") {
    const std::uint32_t seed = 5;
    const quantized::Network network = prepared(tests::small_inception(seed, {9, 9, 2}), seed);
    machine::MachineConfig machine = machine_of(7, 6);
    const isa::Program program =
        emit::compile(network, tests::target_of(machine), {.batch = 1, .inferences = 1});
    std::vector<std::uint64_t> cycles;
    for (const machine::Engine engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
        machine.matrix_unit.engine = engine;
        tests::check_truth(network, machine, {.batch = 1, .inferences = 1},
                           random_bytes(network.tensors[network.input].shape.elements(), seed));
        tests::FreshSimulation simulation;
        hw::Tpu tpu("tpu", machine, program, {});
        tpu.run();
        cycles.push_back(tpu.cycles());
    }
    CHECK(cycles[0] == cycles[1]);
}

TEST_CASE("Average pooling is exact at the sizes of Inception networks", "[system][concat]") {
    struct Example {
        ir::FeatureMap input;
        ir::FeatureMap output;
        ir::Window window;
    };
    const ir::Window same{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    const Example example = GENERATE_COPY(
        Example{{28, 28, 256}, {28, 28, 256}, same}, Example{{35, 35, 288}, {35, 35, 288}, same},
        Example{{7, 7, 1024}, {1, 1, 1024}, {.kernel_height = 7, .kernel_width = 7}},
        Example{{8, 8, 2048}, {1, 1, 2048}, {.kernel_height = 8, .kernel_width = 8}});
    const bool is_signed = GENERATE(false, true);
    const auto kind = GENERATE(quantized::PoolKind::Average, quantized::PoolKind::Max);
    CAPTURE(example.input.height, example.input.channels, is_signed);
    const quantized::Network network =
        pooling(example.input, example.output,
                {.kind = kind, .window = example.window, .count_padding = false}, is_signed);
    tests::check_truth(network, machine_of(256, 256), {.batch = 1, .inferences = 1},
                       random_bytes(example.input.elements(), 77));
}

}  // namespace systole

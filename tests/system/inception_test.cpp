// Inception modules: branches that are concatenated without copies, and pooling at those networks' sizes.
#include "tests/support/inception.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "compiler/passes/prepare.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/truth.h"

namespace systole {
namespace {

using tests::Bytes;

ir::Graph prepared(const ir::Graph& graph, std::uint32_t seed) {
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
std::size_t count_of(const tpu_v1::Schedule& schedule) {
    return static_cast<std::size_t>(std::ranges::count_if(
        schedule.operations, [](const auto& each) { return std::holds_alternative<Kind>(each); }));
}

/// A graph of one pooling layer.
ir::Graph pooling(const std::string& op, const ir::FeatureMap& input, const ir::Window& window,
                  bool is_signed) {
    const ir::Encoding encoding{0.5, is_signed ? -3 : 3, is_signed ? DataType::Int8 : DataType::Uint8};
    tests::IntegerGraph made("pooling");
    made.pool(op, made.input(input, encoding), window);
    return made.graph();
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
        const ir::Graph graph = prepared(tests::small_inception(seed, {13, 11, 3}), seed);
        const tpu_v1::Network network = tpu_v1::lower(graph);
        const machine::MachineConfig machine = machine_of(size.rows, size.columns);
        const mapping::Batches options{.batch = 2, .inferences = 3};
        const tpu_v1::Schedule schedule = tpu_v1::make_schedule(network, tests::target_of(machine), options);
        CHECK(count_of<tpu_v1::CopyLines>(schedule) == 0);
        CHECK(std::ranges::count_if(schedule.layers,
                                    [](const auto& layer) { return layer.kind == "concat"; }) == 3);
        tests::check_truth(graph, machine, options,
                           random_bytes(options.inferences * graph.input().shape.elements(), seed));
    }
}

TEST_CASE("Inception modules take the same cycles on both engines", "[system][concat]") {
    const std::uint32_t seed = 5;
    const ir::Graph graph = prepared(tests::small_inception(seed, {9, 9, 2}), seed);
    machine::MachineConfig machine = machine_of(7, 6);
    const isa::Program program =
        tpu_v1::compile(tpu_v1::lower(graph), tests::target_of(machine), {.batch = 1, .inferences = 1});
    std::vector<std::uint64_t> cycles;
    for (const machine::Engine engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
        machine.matrix_unit.engine = engine;
        tests::check_truth(graph, machine, {.batch = 1, .inferences = 1},
                           random_bytes(graph.input().shape.elements(), seed));
        tests::FreshSimulation simulation;
        hw::System system("system", machine, program, {});
        system.run();
        cycles.push_back(system.cycles());
    }
    CHECK(cycles[0] == cycles[1]);
}

TEST_CASE("Average pooling is exact at the sizes of Inception networks", "[system][concat]") {
    struct Example {
        ir::FeatureMap input;
        ir::Window window;
    };
    const ir::Window same{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    const Example example = GENERATE_COPY(Example{{28, 28, 256}, same}, Example{{35, 35, 288}, same},
                                          Example{{7, 7, 1024}, {.kernel_height = 7, .kernel_width = 7}},
                                          Example{{8, 8, 2048}, {.kernel_height = 8, .kernel_width = 8}});
    const bool is_signed = GENERATE(false, true);
    const std::string op = GENERATE("average_pool", "max_pool");
    CAPTURE(op, example.input.height, example.input.channels, is_signed);
    const ir::Graph graph = pooling(op, example.input, example.window, is_signed);
    tests::check_truth(graph, machine_of(256, 256), {.batch = 1, .inferences = 1},
                       random_bytes(example.input.elements(), 77));
}

}  // namespace systole

// Blocks of separable convolutions with a branch, as those of Xception, in narrow memories that strips of
// lines do not suffice for.
#include "compiler/target/edge_tpu/channels.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/passes/set_rounding.h"
#include "compiler/reference/executor.h"
#include "compiler/target/edge_tpu/family.h"
#include "compiler/target/edge_tpu/network.h"
#include "compiler/target/edge_tpu/order.h"
#include "compiler/target/edge_tpu/parameters.h"
#include "compiler/target/edge_tpu/strips.h"
#include "hw/isa/program.h"
#include "sim/functional/tiles/tile_executor.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/reference_host.h"

using namespace systole;

namespace {

class SeparableBlocks {
public:
    /// `has_constants`: constants of several pixels are added.
    explicit SeparableBlocks(std::mt19937& random, bool has_constants = false)
        : random_(random), has_constants_(has_constants) {}

    ir::Graph draw() {
        const std::uint32_t side = drawn(12, 20);
        has_norms_ = drawn(0, 2) == 0;
        ir::ValueId last = made_.input({side, side, drawn(8, 24)}, encoding());
        for (std::uint32_t blocks = drawn(1, 2); blocks > 0; --blocks) last = block(last);
        return made_.graph();
    }

private:
    std::uint32_t drawn(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
    }
    ir::Encoding encoding() {
        return {0.3 + drawn(0, 100) / 500.0, static_cast<std::int32_t>(drawn(0, 40)) - 20, DataType::Int8};
    }
    tests::IntegerWeights weights(std::uint64_t count, std::uint32_t outputs) {
        tests::IntegerWeights all{.values = {}, .scales = {}};
        for (std::uint64_t i = 0; i < count; ++i) all.values.push_back(static_cast<std::int8_t>(random_()));
        for (std::uint32_t i = 0; i < outputs; ++i) {
            all.scales.push_back(0.001 * drawn(1, 20));
            all.bias.push_back(static_cast<std::int32_t>(drawn(0, 2000)) - 1000);
        }
        return all;
    }
    ir::ValueId pointwise(ir::ValueId from, std::uint32_t filters, std::uint32_t stride) {
        const ir::Window window{.stride_y = stride, .stride_x = stride};
        return made_.convolution(from, window, filters,
                                 weights(std::uint64_t{made_.map(from).channels} * filters, filters),
                                 encoding());
    }
    ir::ValueId depthwise(ir::ValueId from) {
        const std::uint32_t channels = made_.map(from).channels;
        const ir::Window window = ir::same_window(made_.map(from), {3, 3}, {1, 1});
        return made_.depthwise(from, window, 1, weights(std::uint64_t{9} * channels, channels), encoding());
    }
    /// Each pixel divided by the root of its channels' squares.
    ir::ValueId norm(ir::ValueId from) {
        return made_.append("normalize", {from}, {1.0 / 128, 0, DataType::Int8});
    }
    ir::ValueId plus_constant(ir::ValueId from) {
        const ir::FeatureMap map = made_.map(from);
        const ir::Shape shape =
            drawn(0, 1) == 0 ? ir::image_shape(map) : ir::Shape{map.height, 1, map.channels};
        std::vector<std::int8_t> numbers(shape.elements());
        for (std::int8_t& number : numbers) number = static_cast<std::int8_t>(random_());
        const ir::ValueId constant = made_.graph().add_constant("constant", shape, DataType::Int8, numbers);
        made_.store(constant, encoding());
        return made_.append("add", {from, constant}, encoding());
    }
    ir::ValueId block(ir::ValueId from) {
        const std::uint32_t filters = drawn(40, 90);
        ir::ValueId last = pointwise(depthwise(from), filters, 1);
        if (has_norms_ && drawn(0, 1) == 0) last = norm(last);
        if (has_constants_ && drawn(0, 1) == 0) last = plus_constant(last);
        last = pointwise(depthwise(last), filters, 1);
        if (has_norms_ && drawn(0, 1) == 0) last = norm(last);
        if (has_constants_ && drawn(0, 1) == 0) last = plus_constant(last);
        const ir::FeatureMap map = made_.map(last);
        last = made_.pool("max_pool", last, ir::same_window(map, {3, 3}, {2, 2}));
        return made_.append("add", {last, pointwise(from, filters, 2)}, encoding());
    }

    std::mt19937& random_;
    tests::IntegerGraph made_;
    bool has_norms_ = false;
    const bool has_constants_;
};

/// A large image whose last reader, a convolution, comes behind a dense layer of what else reads it.
ir::Graph dense_before_last_reader(std::mt19937& random) {
    const auto drawn = [&](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
    };
    tests::IntegerGraph made;
    const ir::Encoding encoding{.scale = 0.5, .zero_point = 0, .type = DataType::Int8};
    const auto weights = [&](std::uint64_t count) {
        tests::IntegerWeights all{.values = {}, .scales = {0.02}};
        for (std::uint64_t i = 0; i < count; ++i) all.values.push_back(static_cast<std::int8_t>(random()));
        return all;
    };
    const std::uint32_t channels = 4 * drawn(2, 8);
    const std::uint32_t outputs = drawn(20, 130);
    const ir::ValueId large = made.pool("max_pool", made.input({8, 8, channels}, encoding), {});
    const ir::ValueId small =
        made.pool("max_pool", large, {.kernel_height = 4, .kernel_width = 4, .stride_y = 4, .stride_x = 4});
    const std::uint32_t wide = drawn(20, 120);
    const ir::ValueId vector = made.convolution(small, {}, wide, weights(channels * wide), encoding);
    const ir::ValueId dense = made.dense({vector}, outputs, weights(4 * wide * outputs), encoding);
    const ir::ValueId branch = made.convolution(large, {.stride_y = 4, .stride_x = 4}, outputs,
                                                weights(channels * outputs), encoding);
    const ir::ValueId pooled = made.pool("max_pool", branch, {.kernel_height = 2, .kernel_width = 2});
    made.append("add", {dense, pooled}, encoding);
    return made.graph();
}

machine::MachineConfig machine_of(std::mt19937& random) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = machine.tile_array.columns = 2;
    machine.tile_array.lanes = 16;
    machine.wide_memory.bytes = random() % 2 == 0 ? 1U << 17U : 64 * 200;
    return machine;
}

/// What becomes of a network's tensors.
struct Fitted {
    bool fits = false;
    bool in_channels = false;
    bool has_norms = false;
    bool reads_for_strips = false;  ///< a constant operand is there for several strips or parts of channels
    bool reader_moved = false;      ///< a step of a later node comes before one of an earlier node
};
Fitted fitted(const ir::Graph& graph, const machine::MachineConfig& machine) {
    edge_tpu::Network network = edge_tpu::make_network(graph, machine);
    edge_tpu::plan_parameters(network, machine);
    Fitted made{.fits = !edge_tpu::fit_into_narrow_memory(network, machine)};
    made.in_channels =
        std::ranges::any_of(network.steps, [](const edge_tpu::Step& step) { return step.first_output > 0; });
    made.has_norms = std::ranges::any_of(network.steps, [](const edge_tpu::Step& step) {
        return step.kind == edge_tpu::StepKind::Vector && step.operation == isa::TileOperation::Normalize;
    });
    std::vector<int> readers(network.tensors.size());
    for (const edge_tpu::Step& step : network.steps) {
        if (step.other) ++readers[step.other->tensor];
    }
    made.reads_for_strips = std::ranges::any_of(network.steps, [&](const edge_tpu::Step& step) {
        return step.kind == edge_tpu::StepKind::Read && readers[step.result.tensor] > 1;
    });
    made.reader_moved = !std::ranges::is_sorted(network.steps, {}, [](const edge_tpu::Step& step) {
        return step.node;
    }) && std::ranges::none_of(network.steps, &edge_tpu::Step::with_margins);
    return made;
}

std::vector<std::uint8_t> answer(const ir::Graph& graph, const machine::MachineConfig& machine,
                                 const std::vector<std::uint8_t>& input) {
    const isa::Program program = edge_tpu::family.compile(graph, machine, {}).program;
    const auto buffer = [&](isa::BufferKind kind) {
        return *std::ranges::find(program.buffers, kind, &isa::HostBuffer::kind);
    };
    tests::ReferenceHost host(program);
    functional::TileExecutor executor(
        program, {.narrow_bytes = machine.narrow_memory.bytes, .positions = machine.tile_array.pixels},
        &host);
    std::ranges::copy(input, executor.host_bytes(buffer(isa::BufferKind::Input)).begin());
    executor.run();
    const auto output = executor.host_bytes(buffer(isa::BufferKind::Output));
    return {output.begin(), output.end()};
}

}  // namespace

TEST_CASE("Where strips of lines are too large, steps are repeated for parts of the channels", "[edge_tpu]") {
    const std::uint32_t runs = tests::random_runs(24);
    std::uint32_t cut = 0, cut_beside_norms = 0;
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        std::mt19937 random(4400 + seed);
        const ir::Graph graph =
            passes::set_rounding(SeparableBlocks(random).draw(), static_cast<Rounding>(random() % 3));
        machine::MachineConfig machine = machine_of(random);
        std::vector<std::uint8_t> input(graph.input().shape.elements());
        for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
        INFO("seed " << 4400 + seed << "\n" << ir::to_text(graph));
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, 1);
        machine.narrow_memory.bytes = 1U << 16U;
        for (Fitted made = fitted(graph, machine); made.fits; made = fitted(graph, machine)) {
            if (made.in_channels) {
                INFO("narrow memory of " << machine.narrow_memory.bytes);
                REQUIRE(answer(graph, machine, input) == expected);
                ++cut;
                cut_beside_norms += made.has_norms;
            }
            machine.narrow_memory.bytes = machine.narrow_memory.bytes * 19 / 20 / 4 * 4;
        }
    }
    CHECK(cut >= tests::random_share(60));
    CHECK(cut_beside_norms >= tests::random_share(5));
}

TEST_CASE("Constant operands of several pixels are read before what is repeated in parts", "[edge_tpu]") {
    const std::uint32_t runs = tests::random_runs(32);
    std::uint32_t repeated = 0;
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        std::mt19937 random(4800 + seed);
        const ir::Graph graph =
            passes::set_rounding(SeparableBlocks(random, true).draw(), static_cast<Rounding>(random() % 3));
        machine::MachineConfig machine = machine_of(random);
        std::vector<std::uint8_t> input(graph.input().shape.elements());
        for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
        INFO("seed " << 4800 + seed << "\n" << ir::to_text(graph));
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, 1);
        machine.narrow_memory.bytes = 1U << 16U;
        for (Fitted made = fitted(graph, machine); made.fits; made = fitted(graph, machine)) {
            if (made.reads_for_strips) {
                INFO("narrow memory of " << machine.narrow_memory.bytes);
                REQUIRE(answer(graph, machine, input) == expected);
                ++repeated;
            }
            machine.narrow_memory.bytes = machine.narrow_memory.bytes * 17 / 20 / 4 * 4;
        }
    }
    CHECK(repeated >= tests::random_share(20));
}

TEST_CASE("What stays in wide memory does not depend on where narrow memory is short", "[edge_tpu]") {
    const std::uint32_t runs = tests::random_runs(100);
    std::uint32_t moved = 0;
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        std::mt19937 random(4700 + seed);
        const ir::Graph graph =
            passes::set_rounding(dense_before_last_reader(random), static_cast<Rounding>(random() % 3));
        machine::MachineConfig machine = machine_of(random);
        // The dense layer's parameters fit, or do not, or do so without those of the last reader.
        machine.wide_memory.bytes = 64;
        while (edge_tpu::cache_bytes(machine) == 0) machine.wide_memory.bytes += 64;
        machine.wide_memory.bytes += 64 * static_cast<std::uint32_t>(random() % 400);
        std::vector<std::uint8_t> input(graph.input().shape.elements());
        for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
        INFO("seed " << 4700 + seed << "\n" << ir::to_text(graph));
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, 1);
        machine.narrow_memory.bytes = 4096;
        for (Fitted made = fitted(graph, machine); made.fits; made = fitted(graph, machine)) {
            INFO("narrow memory of " << machine.narrow_memory.bytes << ", wide memory of "
                                     << machine.wide_memory.bytes);
            REQUIRE(answer(graph, machine, input) == expected);
            moved += made.reader_moved;
            machine.narrow_memory.bytes = machine.narrow_memory.bytes * 19 / 20 / 4 * 4;
        }
    }
    CHECK(moved >= tests::random_share(20));
}

TEST_CASE("The last reader of a tensor moves up to where the tensor is complete", "[edge_tpu]") {
    // pool (large) -> two steps on a small part of it, then a convolution that leaves less than the pool's
    // result.
    tests::IntegerGraph made;
    const ir::Encoding encoding{.scale = 0.5, .zero_point = 0, .type = DataType::Int8};
    const ir::ValueId large = made.pool("max_pool", made.input({8, 8, 16}, encoding), {});
    const ir::Window by_four{.kernel_height = 4, .kernel_width = 4, .stride_y = 4, .stride_x = 4};
    const ir::ValueId small = made.pool("max_pool", made.pool("max_pool", large, by_four), {});
    const ir::ValueId branch = made.convolution(large, {.stride_y = 4, .stride_x = 4}, 16,
                                                {.values = std::vector<std::int8_t>(16 * 16, 1)}, encoding);
    made.append("add", {small, branch}, encoding);
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = machine.tile_array.columns = 2;
    edge_tpu::Network network = edge_tpu::make_network(made.graph(), machine);
    const auto names = [&] {
        std::vector<std::string> all;
        for (const edge_tpu::Step& step : network.steps) all.push_back(network.layers[step.layer].name);
        return all;
    };
    CHECK(names() == std::vector<std::string>{"layer0", "layer1", "layer2", "layer3", "layer4"});
    edge_tpu::move_last_readers_up(network);
    CHECK(names() == std::vector<std::string>{"layer0", "layer3", "layer1", "layer2", "layer4"});
    // The pool's result is there up to the other reader.
    const edge_tpu::Tensor& pooled = network.tensors[network.steps[0].result.tensor];
    CHECK(pooled.first == 0);
    CHECK(pooled.last == 2);
    const edge_tpu::Tensor& of_branch = network.tensors[network.steps[1].result.tensor];
    CHECK(of_branch.first == 1);
    CHECK(of_branch.last == 4);
}

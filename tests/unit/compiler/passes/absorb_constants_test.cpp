#include "compiler/passes/absorb_constants.h"

#include <catch2/catch.hpp>

#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using passes::absorb_constants;
using tests::Graph;
using tests::GraphParts;

namespace {

constexpr double absorbed_tolerance = 1e-5;

/// A node with a constant behind its other input.
tests::Op with_constant(const char* name, std::vector<float> numbers) {
    tests::Op made = tests::op(name);
    made.by_channel = {std::move(numbers)};
    return made;
}

/// The nodes with their inputs in the opposite order.
ir::Graph constants_first(const Graph& graph) {
    ir::Graph turned = graph;
    for (ir::Node& node : turned.nodes) {
        if (node.inputs.size() == 2) std::swap(node.inputs[0], node.inputs[1]);
    }
    return turned;
}

}  // namespace

TEST_CASE("Constants for each channel become batch normalizations", "[compiler][passes]") {
    Graph graph = tests::graph_of({2, 3, 2});
    graph.append("a", with_constant("add", {1, -2}), {0});
    graph.append("b", with_constant("multiply", {3, 0.5F}), {1});
    graph.append("c", with_constant("subtract", {0.25F, 4}), {2});
    graph.append("d", with_constant("divide", {2, -4}), {3});
    const ir::Graph absorbed = absorb_constants(graph);
    CHECK(kinds(absorbed) ==
          "input batch_normalization batch_normalization batch_normalization batch_normalization ");
    CHECK(difference(graph, absorbed) < absorbed_tolerance);
    CHECK(kinds(passes::fold_batch_normalization(absorbed)) == "input depthwise_convolution ");
}

TEST_CASE("A constant minus x is absorbed, a constant divided by x is not", "[compiler][passes]") {
    Graph graph = tests::graph_of({2, 3, 2});
    graph.append("a", with_constant("subtract", {1, -2}), {0});
    graph.append("b", with_constant("divide", {3, 0.5F}), {1});
    const ir::Graph turned = constants_first(graph);
    const ir::Graph absorbed = absorb_constants(turned);
    CHECK(kinds(absorbed) == "input batch_normalization divide ");
    CHECK(difference(turned, absorbed) < 1e-3);
}

TEST_CASE("Constant numbers become part of the weights before them, else they stay", "[compiler][passes]") {
    GraphParts parts(11);
    Graph graph = tests::graph_of({4, 4, 2});
    graph.append("conv", parts.convolution({4, 4, 2}, {}, 3, true), {0});
    SECTION("behind a convolution") {
        graph.append("shift", with_constant("add", {0.5F}), {1});
        const ir::Graph folded = passes::fold_batch_normalization(absorb_constants(graph));
        CHECK(kinds(folded) == "input convolution ");
        CHECK(difference(graph, folded) < absorbed_tolerance);
    }
    SECTION("behind one with another reader, they stay") {
        graph.append("shift", with_constant("add", {0.5F}), {1});
        graph.append("sum", tests::op("add"), {1, 2});
        CHECK(kinds(absorb_constants(graph)) == "input convolution add add ");
    }
    SECTION("behind a function, they stay") {
        graph.append("relu", tests::op("relu"), {1});
        graph.append("shift", with_constant("multiply", {0.5F}), {2});
        CHECK(kinds(absorb_constants(graph)) == "input convolution relu multiply ");
    }
}

TEST_CASE("What broadcasts over pixels is not absorbed", "[compiler][passes]") {
    Graph graph = tests::graph_of({2, 1, 2});
    ir::Graph& made = graph.get();
    const ir::ValueId rows =
        made.add_constant("rows", {1, 2, 1, 1}, DataType::Float32, std::vector<float>{1, 2});
    made.outputs = {made.append("a", operators::registry().at("add"), {}, {graph.value(0), rows})};
    CHECK(kinds(absorb_constants(made)) == "input add ");
}

TEST_CASE("Quantized networks look up functions with a constant number", "[compiler][passes]") {
    GraphParts parts(3);
    Graph graph = tests::graph_of({2, 2, 3});
    graph.append("conv", parts.convolution({2, 2, 3}, {}, 3, true), {0});
    graph.append("relu", tests::op("relu"), {1});
    graph.append("shift", with_constant("add", {0.5F}), {2});
    graph.append("root", tests::op("sqrt"), {3});
    graph.append("square", with_constant("power", {2.0F}), {4});
    const std::vector<float> inputs = parts.values(16 * graph.input_shape().elements());
    const ir::Graph integers = passes::prepare(graph, {.inputs = inputs, .count = 16, .encoding = {}});
    CHECK(kinds(integers) == "input convolution lookup lookup lookup ");
    CHECK(error_in_steps(graph, integers, inputs) < 4.0);
}

TEST_CASE("The mean over an image is average pooling in quantized networks", "[compiler][passes]") {
    GraphParts parts(3);
    for (const std::int64_t keep : {0, 1}) {
        Graph graph = tests::graph_of({4, 4, 2});
        graph.append("conv", parts.convolution({4, 4, 2}, {}, 3, true), {0});
        graph.append("mean",
                     tests::op("reduce_mean", {{"axes", std::vector<std::int64_t>{1, 2}}, {"keep", keep}}),
                     {1});
        const std::vector<float> inputs = parts.values(16 * graph.input_shape().elements());
        const ir::Graph integers = passes::prepare(graph, {.inputs = inputs, .count = 16, .encoding = {}});
        CHECK(kinds(integers) ==
              (keep == 1 ? "input convolution average_pool " : "input convolution average_pool reshape "));
        CHECK(integers.output().shape == (keep == 1 ? ir::Shape{1, 1, 1, 3} : ir::Shape{1, 3}));
        CHECK(error_in_steps(graph, integers, inputs) < 2.0);
    }
}

TEST_CASE("Elements that are only moved stay as they are stored", "[compiler][passes]") {
    GraphParts parts(3);
    Graph graph = tests::graph_of({4, 4, 4});
    graph.append("conv", parts.convolution({4, 4, 4}, {}, 4, true), {0});
    graph.append("moved", tests::op("depth_to_space", {{"block", std::int64_t{2}}}), {1});
    graph.append("pool", tests::max_pool({.kernel_height = 2, .kernel_width = 2}), {2});
    const std::vector<float> inputs = parts.values(16 * graph.input_shape().elements());
    const ir::Graph integers = passes::prepare(graph, {.inputs = inputs, .count = 16, .encoding = {}});
    CHECK(kinds(integers) == "input convolution depth_to_space max_pool ");
    CHECK(error_in_steps(graph, integers, inputs) < 2.0);
}

#include <catch2/catch.hpp>

#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/add.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/zero_padding.h"
#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"
#include "tests/support/graphs.h"

using namespace systole;
using graph::Graph;
using graph::NodeId;
using graph::Shape;

namespace {

std::unique_ptr<graph::Operator> relu() {
    return std::make_unique<graph::Activation>(graph::ActivationFunction::Relu);
}

/// input -> a -> b -> sum(b, a)
Graph diamond() {
    Graph graph = tests::graph_of({2, 2, 1});
    const NodeId a = graph.append("a", relu(), {0});
    const NodeId b = graph.append("b", relu(), {a});
    graph.append("sum", std::make_unique<graph::Add>(), {b, a});
    return graph;
}

}  // namespace

TEST_CASE("A graph prints as text, a line a node", "[compiler][graph]") {
    tests::GraphParts parts(1);
    Graph graph = tests::graph_of({28, 28, 1});
    const graph::Window window{.kernel_height = 3, .kernel_width = 5, .stride_y = 2, .pad_left = 1};
    graph.append("conv\n2d", parts.convolution({28, 28, 1}, window, 4, true), {0});
    graph.append("relu", relu(), {1});
    graph.append("add", std::make_unique<graph::Add>(), {1, 2});
    CHECK(graph::to_text(graph) ==
          "graph \"made\"\n"
          "%0 = input() -> 28x28x1 \"input\"\n"
          "%1 = convolution(%0) -> 13x25x4 \"conv\\x0a2d\": kernel 3x5, stride 2x1, padding 0,1,0,0, filters "
          "4, "
          "bias yes\n"
          "%2 = activation(%1) -> 13x25x4 \"relu\": relu\n"
          "%3 = add(%1, %2) -> 13x25x4 \"add\"\n");
}

TEST_CASE("A node that does not fit is refused by its layer's name", "[compiler][graph]") {
    Graph graph = tests::graph_of({2, 2, 1});
    CHECK_THROWS_WITH(
        graph.append("flat", std::make_unique<graph::Reshape>(Shape{1, 1, 5}), {0}),
        "layer \"flat\": it reshapes 2x2x1 to 1x1x5; the number of elements must stay the same");
    CHECK(graph.nodes.size() == 1);
    CHECK_THROWS_AS(graph.append("late", relu(), {1}), std::logic_error);
}

TEST_CASE("A tensor has at most so many elements", "[compiler][graph]") {
    constexpr auto limit = static_cast<std::uint32_t>(graph::maximum_elements);
    CHECK_NOTHROW(tests::graph_of({1, 1, limit}));
    CHECK_THROWS_AS(tests::graph_of({1, 1, limit + 1}), ModelError);
    CHECK_THROWS_AS(tests::graph_of({0xffffffff, 0xffffffff, 0xffffffff}), ModelError);
    CHECK_THROWS_AS(tests::graph_of({4, 0, 4}), ModelError);
}

TEST_CASE("Readers of a removed node read its input", "[compiler][graph]") {
    Graph graph = diamond();
    CHECK(graph::consumers(graph) == std::vector<std::vector<NodeId>>{{1}, {2, 3}, {3}, {}});
    graph::remove_nodes(graph, {false, true, true, false});
    REQUIRE(graph.nodes.size() == 2);
    CHECK(graph.nodes[1].inputs == std::vector<NodeId>{0, 0});
    CHECK(graph::consumers(graph) == std::vector<std::vector<NodeId>>{{1, 1}, {}});

    Graph other = diamond();
    CHECK_THROWS_AS(graph::remove_nodes(other, {false, false, false, true}), std::logic_error);
}

TEST_CASE("A clone shares nothing with its original", "[compiler][graph]") {
    tests::GraphParts parts(1);
    Graph graph = tests::graph_of({4, 4, 2});
    graph.append("conv", parts.convolution({4, 4, 2}, {}, 3, false), {0});
    const Graph copy = graph::clone(graph);
    CHECK(graph::to_text(copy) == graph::to_text(graph));
    auto& original = dynamic_cast<graph::Convolution&>(*graph.nodes[1].op);
    const auto& cloned = dynamic_cast<const graph::Convolution&>(*copy.nodes[1].op);
    CHECK(cloned.weights == original.weights);
    original.weights[0] += 1.0F;
    CHECK(cloned.weights != original.weights);
}

TEST_CASE("Multiply-accumulates are counted by windows and elements", "[compiler][graph]") {
    tests::GraphParts parts(1);
    const Shape input{6, 6, 2};
    Graph graph = tests::graph_of(input);
    graph.append("conv", parts.convolution(input, {.kernel_height = 3, .kernel_width = 3}, 5, true), {0});
    graph.append("depthwise", parts.depthwise({4, 4, 5}, {.kernel_height = 2, .kernel_width = 2}, 1, true),
                 {1});
    graph.append("dense", parts.dense({3, 3, 5}, 7, true), {2});
    constexpr std::uint64_t convolution = 4 * 4 * 5 * (3 * 3 * 2);
    constexpr std::uint64_t depthwise = 3 * 3 * 5 * (2 * 2);
    constexpr std::uint64_t dense = 3 * 3 * 5 * 7;
    CHECK(graph::macs(graph) == convolution + depthwise + dense);
}

TEST_CASE("Names are quoted in one short line", "[compiler][graph]") {
    CHECK(graph::quoted("conv2d") == "\"conv2d\"");
    CHECK(graph::quoted("a\nb\x7f") == "\"a\\x0ab\\x7f\"");
    CHECK(graph::quoted(std::string(80, 'x')) == "\"" + std::string(80, 'x') + "\"");
    CHECK(graph::quoted(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "...\"");
}

TEST_CASE("Products that do not fit are noticed", "[compiler][graph]") {
    constexpr std::uint64_t half = std::uint64_t{1} << 32;
    CHECK(graph::checked_product({half, half - 1}) == half * (half - 1));
    CHECK_FALSE(graph::checked_product({half, half}).has_value());
}

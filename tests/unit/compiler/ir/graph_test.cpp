#include "compiler/ir/graph.h"

#include <catch2/catch.hpp>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "tests/support/graphs.h"

using namespace systole;
using tests::Graph;
using tests::NodeId;

namespace {

/// input -> a -> b -> sum(b, a)
Graph diamond() {
    Graph graph({2, 2, 1});
    const NodeId a = graph.append("a", tests::op("relu"), {0});
    const NodeId b = graph.append("b", tests::op("relu"), {a});
    graph.append("sum", tests::op("add"), {b, a});
    return graph;
}

/// The two halves of a vector.
class Halves final : public ir::Operator {
public:
    std::string_view name() const override { return "halves"; }
    std::string_view summary() const override { return "The two halves of a vector."; }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape half = ir::vector_shape(node.input_map().channels / 2);
        return {half, half};
    }
    void check_types(const ir::NodeView& /*node*/) const override {}
};

}  // namespace

TEST_CASE("A node of several results makes a value for each", "[compiler][ir]") {
    const Halves halves;
    ir::Graph graph;
    graph.name = "made";
    const ir::ValueId input = graph.add_input("input", {1, 6});
    const ir::ValueId first = graph.append("h", halves, {}, {input}, DataType::Int16);
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].outputs == std::vector{first, first + 1});
    CHECK(graph.values[first + 1] == graph.values[first]);
    CHECK(graph.values[first].shape == ir::Shape{1, 3});
    CHECK(graph.values[first].stored_as == DataType::Int16);
    graph.outputs = {first, first + 1};
    CHECK(ir::find_fault(graph) == std::nullopt);
    CHECK_THAT(ir::to_text(graph), Catch::EndsWith("%1, %2 = halves(%0) \"h\"\n"));
}

TEST_CASE("A node that does not fit is refused by its layer's name", "[compiler][ir]") {
    Graph graph({2, 2, 1});
    CHECK_THROWS_WITH(
        graph.append("flat", tests::reshape({1, 1, 5}), {0}),
        "layer \"flat\": it reshapes 2x2x1 to 1x1x5; the number of elements must stay the same");
    CHECK(graph.get().nodes.empty());
    CHECK(graph.get().values.size() == 1);
    CHECK_THROWS_AS(graph.get().append("late", operators::registry().at("relu"), {}, {7}), std::logic_error);
    CHECK_THROWS_WITH(graph.append("function", tests::op("relu", {{"slope", 1.0}}), {0}),
                      "layer \"function\": relu has no attribute \"slope\", or it is given twice");
    CHECK_THROWS_WITH(graph.append("function", tests::op("relu", {{"maximum", -1.0}}), {0}),
                      "layer \"function\": attribute maximum is -1.0; it must be at least 0");
    CHECK_THROWS_WITH(graph.append("part", tests::op("slice"), {0}),
                      "layer \"part\": attribute count is absent; it must be given");
}

TEST_CASE("A tensor has at most so many elements", "[compiler][ir]") {
    constexpr auto limit = static_cast<std::uint32_t>(ir::maximum_elements);
    CHECK_NOTHROW(tests::graph_of({1, 1, limit}));
    CHECK_THROWS_AS(tests::graph_of({1, 1, limit + 1}), ModelError);
    CHECK_THROWS_AS(tests::graph_of({0xffffffff, 0xffffffff, 0xffffffff}), ModelError);
    CHECK_THROWS_AS(tests::graph_of({4, 0, 4}), ModelError);
}

TEST_CASE("Readers of a removed node read its input", "[compiler][ir]") {
    ir::Graph graph = diamond();
    CHECK(ir::readers(graph) == std::vector<std::vector<ir::NodeId>>{{0}, {1, 2}, {2}, {}});
    ir::remove_nodes(graph, {true, true, false});
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].inputs == std::vector<ir::ValueId>{0, 0});
    CHECK(ir::readers(graph) == std::vector<std::vector<ir::NodeId>>{{0, 0}, {}});
    CHECK(graph.outputs == std::vector<ir::ValueId>{1});

    ir::Graph other = diamond();
    CHECK_THROWS_AS(ir::remove_nodes(other, {false, false, true}), std::logic_error);
}

TEST_CASE("Removing an output node makes its input the output", "[compiler][ir]") {
    Graph graph({1, 1, 3});
    graph.append("a", tests::op("relu"), {0});
    graph.append("b", tests::op("identity"), {1});
    ir::remove_nodes(graph.get(), {false, true});
    CHECK(graph.get().outputs == std::vector<ir::ValueId>{graph.get().nodes[0].output()});
}

TEST_CASE("Nodes without an effect on an output are removed, with their constants", "[compiler][ir]") {
    tests::GraphParts parts(1);
    Graph graph({1, 1, 3});
    graph.append("unread", parts.dense({1, 1, 3}, 4, true), {0});
    graph.append("read", parts.dense({1, 1, 3}, 2, true), {0});
    ir::remove_unread(graph.get());
    CHECK(graph.get().nodes.size() == 1);
    CHECK(graph.get().values.size() == 4);
    CHECK(graph.get().output_map() == ir::FeatureMap{1, 1, 2});
}

TEST_CASE("Copies of a graph share its constants", "[compiler][ir]") {
    tests::GraphParts parts(1);
    Graph graph({4, 4, 2});
    graph.append("conv", parts.convolution({4, 4, 2}, {}, 3, false), {0});
    const ir::Graph copy = graph;
    CHECK(copy == graph.get());
    CHECK(copy.values[1].constant->bytes().data() == graph.get().values[1].constant->bytes().data());
    graph.get().values[1].constant = ir::Constant();
    CHECK_FALSE(copy == graph.get());
    CHECK(copy.values[1].constant->values<float>().size() == 6);
}

TEST_CASE("Shapes have up to six extents and checked products", "[compiler][ir]") {
    const ir::Shape image{1, 28, 28, 3};
    CHECK(to_text(image) == "1x28x28x3");
    CHECK(to_text(ir::Shape()) == "scalar");
    CHECK(ir::Shape().elements() == 1);
    CHECK(image.elements() == 28 * 28 * 3);
    CHECK(ir::feature_map(image) == ir::FeatureMap{28, 28, 3});
    CHECK(ir::feature_map({1, 7}) == ir::FeatureMap{1, 1, 7});
    CHECK(ir::feature_map({1, 5, 7}) == ir::FeatureMap{1, 5, 7});
    CHECK_THROWS_WITH(
        ir::feature_map({2, 28, 28, 3}),
        "its shape is 2x28x28x3; it must be a vector or an image of batch 1, others are not supported");
    CHECK_THROWS_AS(ir::feature_map({1, 2, 3, 4, 5}), ModelError);
    CHECK_THROWS_AS((ir::Shape{1, 2, 3, 4, 5, 6, 7}), ModelError);
    const ir::Shape large{0xffffffff, 0xffffffff, 0xffffffff};
    CHECK_FALSE(large.checked_elements().has_value());
    CHECK_THROWS_AS(large.elements(), std::logic_error);
}

TEST_CASE("Multiply-accumulates are counted by windows and elements", "[compiler][ir]") {
    tests::GraphParts parts(1);
    const ir::FeatureMap input{6, 6, 2};
    Graph graph = tests::graph_of(input);
    graph.append("conv", parts.convolution(input, {.kernel_height = 3, .kernel_width = 3}, 5, true), {0});
    graph.append("depthwise", parts.depthwise({4, 4, 5}, {.kernel_height = 2, .kernel_width = 2}, 1, true),
                 {1});
    graph.append("dense", parts.dense({3, 3, 5}, 7, true), {2});
    constexpr std::uint64_t convolution = 4 * 4 * 5 * (3 * 3 * 2);
    constexpr std::uint64_t depthwise = 3 * 3 * 5 * (2 * 2);
    constexpr std::uint64_t dense = 3 * 3 * 5 * 7;
    CHECK(ir::macs(graph) == convolution + depthwise + dense);
}

TEST_CASE("Names are quoted in one short line", "[compiler][ir]") {
    CHECK(in_quotes("conv2d") == "\"conv2d\"");
    CHECK(in_quotes("a\nb\x7f") == "\"a\\x0ab\\x7f\"");
    CHECK(in_quotes(std::string(80, 'x')) == "\"" + std::string(80, 'x') + "\"");
    CHECK(in_quotes(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "...\"");
}

TEST_CASE("Products that do not fit are noticed", "[compiler][ir]") {
    constexpr std::uint64_t half = std::uint64_t{1} << 32;
    CHECK(ir::checked_product({half, half - 1}) == half * (half - 1));
    CHECK_FALSE(ir::checked_product({half, half}).has_value());
}

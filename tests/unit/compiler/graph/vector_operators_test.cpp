// Products, slices and dense layers of several inputs; the bits of a result.
#include <catch2/catch.hpp>

#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/multiply.h"
#include "compiler/graph/operators/slice.h"
#include "compiler/model_error.h"
#include "tests/support/graphs.h"

using namespace systole;
using graph::Shape;

namespace {

std::vector<float> evaluate(const graph::Operator& op, const std::vector<Shape>& shapes,
                            const std::vector<std::vector<float>>& inputs, std::uint32_t batch) {
    std::vector<const float*> pointers;
    for (const auto& input : inputs) pointers.push_back(input.data());
    std::vector<float> output(batch * op.output_shape(shapes).elements());
    op.evaluate(shapes, pointers, batch, output.data());
    return output;
}

}  // namespace

TEST_CASE("A product multiplies element by element", "[compiler][graph]") {
    const graph::Multiply multiply;
    const std::vector<Shape> shapes{{1, 2, 1}, {1, 2, 1}};
    CHECK(multiply.output_shape(shapes) == Shape{1, 2, 1});
    CHECK(evaluate(multiply, shapes, {{1, 2, 3, 4}, {5, -6, 0.5F, 0}}, 2) ==
          std::vector<float>{5, -12, 1.5F, 0});
    CHECK_THROWS_WITH(multiply.output_shape(std::vector<Shape>{{1, 1, 2}}),
                      "it multiplies 1 inputs; it must have exactly 2");
    CHECK_THROWS_WITH(multiply.output_shape(std::vector<Shape>{{1, 1, 2}, {1, 1, 3}}),
                      "it multiplies 1x1x2 and 1x1x3; the shapes must be the same");
}

TEST_CASE("A slice is a range of a vector's elements", "[compiler][graph]") {
    const graph::Slice slice(1, 2);
    const std::vector<Shape> shape{{1, 1, 4}};
    CHECK(slice.output_shape(shape) == Shape{1, 1, 2});
    CHECK(evaluate(slice, shape, {{1, 2, 3, 4, 5, 6, 7, 8}}, 2) == std::vector<float>{2, 3, 6, 7});
    CHECK(slice.parameters() == "first 1, count 2");
    CHECK_THROWS_WITH(slice.output_shape(std::vector<Shape>{{1, 2, 4}}),
                      "it takes a slice of 1x2x4; it must be a vector");
    for (const graph::Slice& wrong :
         {graph::Slice(0, 0), graph::Slice(4, 1), graph::Slice(3, 2), graph::Slice(1, 0xffffffff)}) {
        CAPTURE(wrong.first, wrong.count);
        CHECK_THROWS_AS(wrong.output_shape(shape), ModelError);
    }
    CHECK_NOTHROW(graph::Slice(3, 1).output_shape(shape));
}

TEST_CASE("A dense layer of several inputs is one of all of them behind each other", "[compiler][graph]") {
    tests::GraphParts parts(3);
    const std::vector<Shape> shapes{{1, 1, 3}, {2, 1, 2}, {1, 1, 1}};
    const auto op = parts.dense({1, 1, 8}, 5, true);
    CHECK(op->output_shape(shapes) == Shape{1, 1, 5});
    const std::vector<float> all = parts.values(2 * 8);
    std::vector<std::vector<float>> inputs(3);
    for (std::size_t image = 0; image < 2; ++image) {
        std::size_t next = image * 8;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            for (std::size_t e = 0; e < shapes[i].elements(); ++e) inputs[i].push_back(all[next++]);
        }
    }
    CHECK(tests::largest_difference(evaluate(*op, shapes, inputs, 2),
                                    tests::evaluate(*op, {1, 1, 8}, all, 2)) < 1e-6);
    CHECK_THROWS_WITH(op->output_shape(std::vector<Shape>{{1, 1, 3}, {1, 1, 4}}),
                      "its input is 1x1x3 and 1x1x4 = 7 elements; its weights are for 8");
    CHECK_THROWS_WITH(op->output_shape({}), "it has no input; it must have at least 1");
}

TEST_CASE("A node's bits are its own, copied with it, and outlive an identity behind it",
          "[compiler][graph]") {
    const auto linear = [] { return std::make_unique<graph::Activation>(graph::ActivationFunction::Linear); };
    tests::GraphParts parts(1);
    graph::Graph graph = tests::graph_of({1, 1, 4});
    graph.append("dense", parts.dense({1, 1, 4}, 3, false), {0});
    graph.append("identity", linear(), {1}, 16);
    graph.append("other", linear(), {2});
    CHECK(graph.nodes[1].activation_bits == 8);
    CHECK(graph::clone(graph).nodes[2].activation_bits == 16);
    CHECK(graph::to_text(graph).find("\"identity\" 16-bit: linear") != std::string::npos);
    graph::Graph without = graph::clone(graph);
    graph::remove_nodes(without, {false, false, true, false});
    REQUIRE(without.nodes.size() == 3);
    CHECK(without.nodes[1].activation_bits == 16);
    CHECK(without.nodes[2].inputs == std::vector<graph::NodeId>{1});
    // Read by others, too, it stays as it was.
    graph.append("third", linear(), {1});
    graph::remove_nodes(graph, {false, false, true, false, false});
    CHECK(graph.nodes[1].activation_bits == 8);
}

// Products, slices and dense layers of several inputs; the bits of a result.
#include <catch2/catch.hpp>

#include "compiler/ir/model_error.h"
#include "tests/support/graphs.h"

using namespace systole;
using ir::FeatureMap;

TEST_CASE("A product multiplies element by element", "[compiler][operators]") {
    const tests::Op multiply = tests::op("multiply");
    const std::vector<ir::FeatureMap> shapes{{1, 2, 1}, {1, 2, 1}};
    CHECK(tests::output_shape(multiply, shapes) == ir::FeatureMap{1, 2, 1});
    CHECK(tests::evaluate(multiply, shapes, {{1, 2, 3, 4}, {5, -6, 0.5F, 0}}, 2) ==
          std::vector<float>{5, -12, 1.5F, 0});
    CHECK_THROWS_WITH(tests::output_shape(multiply, {{1, 1, 2}}),
                      "it multiplies 1 input; it must have exactly 2");
    CHECK_THROWS_WITH(
        tests::output_shape(multiply, {{1, 1, 2}, {1, 1, 3}}),
        "it multiplies 1x1x2 and 1x1x3; each axis, counted from the last, must be the same or 1");
}

TEST_CASE("A slice is a range of a vector's elements", "[compiler][operators]") {
    const tests::Op slice = tests::slice(1, 2);
    CHECK(tests::output_shape(slice, {{1, 1, 4}}) == FeatureMap{1, 1, 2});
    CHECK(tests::evaluate(slice, {1, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, 2) == std::vector<float>{2, 3, 6, 7});
    CHECK_THROWS_WITH(tests::output_shape(slice, {{1, 2, 4}}),
                      "it takes a slice of 1x2x4; it must be a vector");
    for (const auto& [first, count] :
         {std::pair(0U, 0U), std::pair(4U, 1U), std::pair(3U, 2U), std::pair(1U, 0xffffffffU)}) {
        CAPTURE(first, count);
        CHECK_THROWS_AS(tests::output_shape(tests::slice(first, count), {{1, 1, 4}}), ModelError);
    }
    CHECK_NOTHROW(tests::output_shape(tests::slice(3, 1), {{1, 1, 4}}));
}

TEST_CASE("A dense layer of several inputs is one of all of them behind each other",
          "[compiler][operators]") {
    tests::GraphParts parts(3);
    const std::vector<ir::FeatureMap> shapes{{1, 1, 3}, {2, 1, 2}, {1, 1, 1}};
    const auto op = parts.dense({1, 1, 8}, 5, true);
    CHECK(tests::output_shape(op, shapes) == ir::FeatureMap{1, 1, 5});
    const std::vector<float> all = parts.values(2 * 8);
    std::vector<std::vector<float>> inputs(3);
    for (std::size_t image = 0; image < 2; ++image) {
        std::size_t next = image * 8;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            for (std::size_t e = 0; e < shapes[i].elements(); ++e) inputs[i].push_back(all[next++]);
        }
    }
    CHECK(tests::largest_difference(tests::evaluate(op, shapes, inputs, 2),
                                    tests::evaluate(op, {1, 1, 8}, all, 2)) < 1e-6);
    CHECK_THROWS_WITH(tests::output_shape(op, {{1, 1, 3}, {1, 1, 4}}),
                      "its input is 1x1x3 and 1x1x4 = 7 elements; its weights are for 8");
    CHECK_THROWS_WITH(tests::output_shape(op, {}), "it has no input; it must have at least 1");
}

TEST_CASE("The type in which a value is stored is kept when an identity after it is removed",
          "[compiler][ir]") {
    tests::GraphParts parts(1);
    tests::Graph graph({1, 1, 4});
    graph.append("dense", parts.dense({1, 1, 4}, 3, false), {0});
    graph.append("identity", tests::op("identity"), {1}, 16);
    graph.append("other", tests::op("identity"), {2});
    CHECK(tests::summary(graph) ==
          "graph \"made\"\n%0 = input() -> 1x1x4 \"input\"\n"
          "%1 = dense(%0) -> 1x1x3 \"dense\": units 3, bias no\n"
          "%2 = identity(%1) -> 1x1x3 \"identity\" 16-bit\n%3 = identity(%2) -> 1x1x3 \"other\"\n");
    ir::Graph without = graph;
    ir::remove_nodes(without, {false, true, false});
    CHECK(
        tests::summary(without) ==
        "graph \"made\"\n%0 = input() -> 1x1x4 \"input\"\n"
        "%1 = dense(%0) -> 1x1x3 \"dense\" 16-bit: units 3, bias no\n%2 = identity(%1) -> 1x1x3 \"other\"\n");
    // Read by others, too, it stays as it was.
    graph.append("sum", tests::op("add"), {1, 3});
    ir::remove_nodes(graph.get(), {false, true, false, false});
    CHECK(graph.get().values[graph.get().nodes[0].output()].stored_as == DataType::Uint8);
}

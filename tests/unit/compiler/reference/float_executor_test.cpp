#include <algorithm>
#include <catch2/catch.hpp>

#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"

using namespace systole;
using tests::Graph;
using tests::NodeId;

namespace {

/// relu(x) + tanh(x), with a branch whose result is needed late.
Graph branched(const ir::FeatureMap& shape) {
    Graph graph = tests::graph_of(shape);
    const NodeId relu = graph.append("relu", tests::op("relu"), {0});
    const NodeId tanh = graph.append("tanh", tests::op("tanh"), {0});
    graph.append("sum", tests::op("add"), {relu, tanh});
    return graph;
}

}  // namespace

TEST_CASE("The executor computes node after node, over any batch", "[compiler][reference]") {
    // Images so large that few are computed at a time, and so small that many are.
    const ir::FeatureMap shape = GENERATE(ir::FeatureMap{1, 1, 3}, ir::FeatureMap{200, 100, 5});
    const Graph graph = branched(shape);
    const std::uint32_t batch = GENERATE(0U, 1U, 3U, 131U);
    if (batch * shape.elements() > 1000000) return;
    INFO("batch " << batch);
    tests::GraphParts parts(batch);
    const std::vector<float> inputs = parts.values(batch * shape.elements(), -3.0F, 3.0F);
    const std::vector<float> outputs = reference::execute(graph, inputs, batch);
    REQUIRE(outputs.size() == inputs.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        worst = std::max(worst,
                         std::abs(double{outputs[i]} - (std::max(inputs[i], 0.0F) + std::tanh(inputs[i]))));
    }
    CHECK(worst < 1e-6);
}

TEST_CASE("The observer gets every node's result for every image", "[compiler][reference]") {
    const ir::FeatureMap shape{1, 2, 2};
    const Graph graph = branched(shape);
    constexpr std::uint32_t batch = 200;
    tests::GraphParts parts(1);
    const std::vector<float> inputs = parts.values(batch * shape.elements());
    std::vector<std::vector<float>> seen(graph.get().values.size());
    const std::vector<float> outputs =
        reference::execute(graph, inputs, batch, [&](ir::ValueId id, std::span<const float> values) {
            seen[id].insert(seen[id].end(), values.begin(), values.end());
        });
    CHECK(seen.front() == inputs);
    CHECK(seen.back() == outputs);
    for (const std::vector<float>& values : seen) CHECK(values.size() == inputs.size());
}

TEST_CASE("Inputs of another size are refused", "[compiler][reference]") {
    const Graph graph = branched({2, 2, 1});
    CHECK_NOTHROW(reference::execute(graph, std::vector<float>(8), 2));
    CHECK_THROWS_WITH(reference::execute(graph, std::vector<float>(9), 2),
                      "made: 9 values were given for 2 inputs of 2x2x1");
    CHECK_THROWS_AS(reference::execute(graph, std::vector<float>(7), 2), ModelError);
}

TEST_CASE("The class is the first of the largest outputs", "[compiler][reference]") {
    const std::vector<float> outputs{0.1F, 0.7F, 0.2F, 0.5F, 0.1F, 0.5F};
    CHECK(reference::argmax(outputs, 2) == std::vector<std::uint32_t>{1, 0});
    CHECK(reference::argmax({}, 0).empty());
}


#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/passes/prepare.h"
#include "compiler/passes/unite_ranges.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/inception.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using ir::Range;
using tests::Graph;
using tests::NodeId;

namespace {

constexpr std::uint32_t images = 12;

passes::Calibration calibration_of(const ir::Graph& graph) {
    tests::GraphParts parts(4);
    return {.inputs = parts.values(images * graph.input().shape.elements(), 0.0F),
            .count = images,
            .encoding = {}};
}

tests::Op max_pool() {
    const ir::Window window{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    return tests::pool("max_pool", window);
}

/// A 1x1 convolution whose weights are all `weight`.
NodeId scaled(Graph& graph, NodeId from, float weight, std::uint32_t filters = 2) {
    const std::uint32_t channels = graph.shape(from).channels;
    const std::vector<float> weights(std::size_t{channels} * filters, weight);
    return graph.append("scaled", tests::convolution({}, channels, filters, weights), {from});
}

NodeId concatenated(Graph& graph, const std::vector<NodeId>& from) {
    return graph.append("concat", tests::op("concat"), from);
}

std::size_t lookups(const ir::Graph& graph) {
    std::size_t count = 0;
    for (const ir::Node& node : graph.nodes) count += node.is("lookup");
    return count;
}

/// Checks that all tensors of each concatenation have the same encoding.
void check_encodings(const ir::Graph& graph) {
    std::size_t concats = 0;
    for (const ir::Node& node : graph.nodes) {
        if (!node.is("concat")) continue;
        ++concats;
        for (const ir::ValueId input : node.inputs) {
            CHECK(operators::encoding_of(graph.values[input]) ==
                  operators::encoding_of(graph.values[node.output()]));
        }
    }
    CHECK(concats > 0);
}

}  // namespace

TEST_CASE("Branches of a concatenation share one range, through pooling and through each other",
          "[compiler][passes]") {
    Graph graph = tests::graph_of({4, 4, 1});
    const NodeId small = scaled(graph, 0, 1.0F);                                     // 1
    const NodeId source = scaled(graph, 0, 1.0F);                                    // 2
    const NodeId pooled = graph.append("pool", max_pool(), {source});                // 3
    const NodeId inner = concatenated(graph, {small, pooled});                       // 4
    const NodeId apart = scaled(graph, inner, 1.0F);                                 // 5
    const NodeId large = scaled(graph, apart, 1.0F);                                 // 6
    const NodeId from_input = graph.append("pool", max_pool(), {0});                 // 7
    const NodeId outer = concatenated(graph, {inner, large, large, 0, from_input});  // 8
    const std::vector<Range> own{{-1, 9},   {-2, 1}, {0, 3}, {0, 2}, {-2, 2},
                                 {-50, 50}, {-4, 5}, {0, 9}, {-4, 9}};
    for (NodeId id = 0; id < own.size(); ++id) graph.get().values[graph.value(id)].range = own[id];
    const ir::Graph united = passes::unite_ranges(graph);
    const auto range = [&](NodeId id) { return united.values[graph.value(id)].range.value(); };
    for (const NodeId id : {small, source, pooled, inner, large, outer}) {
        INFO(id);
        CHECK(range(id).minimum == -4);
        CHECK(range(id).maximum == 9);
    }
    for (const NodeId id : {NodeId{0}, apart, from_input}) {
        INFO(id);
        CHECK(range(id).minimum == own[id].minimum);
        CHECK(range(id).maximum == own[id].maximum);
    }
}

TEST_CASE("Branches of very different ranges are concatenated without a rescaling step",
          "[compiler][passes]") {
    Graph graph = tests::graph_of({4, 4, 2});
    const NodeId a = scaled(graph, 0, 0.1F);
    const NodeId b = scaled(graph, 0, -3.0F, 4);
    concatenated(graph, {a, graph.append("pool", max_pool(), {b})});
    const passes::Calibration calibration = calibration_of(graph);
    const ir::Graph network = passes::prepare(graph, calibration);
    check_encodings(network);
    CHECK(lookups(network) == 0);
    CHECK(error_in_steps(graph, network, calibration.inputs) < 2.0);
}

TEST_CASE("The network's input is rescaled where it is concatenated", "[compiler][passes]") {
    Graph graph = tests::graph_of({4, 4, 2});
    const NodeId branch = scaled(graph, 0, 3.0F);
    const NodeId pooled = graph.append("pool", max_pool(), {0});
    concatenated(graph, {0, branch, pooled, 0});
    passes::Calibration calibration = calibration_of(graph);
    calibration.encoding = passes::InputEncoding{1.0 / 255, 0};
    const ir::Graph network = passes::prepare(graph, calibration);
    check_encodings(network);
    CHECK(operators::encoding_of(network.input()).scale == 1.0 / 255);
    CHECK(lookups(network) == 3);
    CHECK(error_in_steps(graph, network, calibration.inputs) < 2.0);
}

TEST_CASE("A branch whose sums need a larger scale than its range is rescaled", "[compiler][passes]") {
    // Inputs cancel: huge weights, small results.
    Graph graph = tests::graph_of({1, 1, 2});
    const NodeId cancelling =
        graph.append("cancelling", tests::convolution({}, 2, 1, {1e8F, 1e8F}, {-1e8F}), {0});
    concatenated(graph, {cancelling, scaled(graph, 0, 1.0F)});
    passes::Calibration calibration{.inputs = {0.5F, 0.5F}, .count = 1, .encoding = {}};
    calibration.encoding = passes::InputEncoding{1.0 / 255, 0};
    const ir::Graph network = passes::prepare(graph, calibration);
    check_encodings(network);
    CHECK(lookups(network) == 1);
}

TEST_CASE("Quantized Inception modules equal the float modules up to a few steps", "[compiler][passes]") {
    for (std::uint32_t seed = 1; seed < 6; ++seed) {
        INFO("seed " << seed);
        tests::InceptionBuilder builder(seed, {7, 7, 3});
        const NodeId module = builder.module(builder.convolution(0, 1, 4));
        builder.reduction(module);
        const Graph graph = builder.take();
        const passes::Calibration calibration = calibration_of(graph);
        const ir::Graph network = passes::prepare(graph, calibration);
        check_encodings(network);
        CHECK(lookups(network) == 0);
        CHECK(error_in_steps(graph, network, calibration.inputs) < 8.0);
    }
}

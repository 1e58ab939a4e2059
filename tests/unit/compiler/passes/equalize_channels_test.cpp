#include "compiler/passes/equalize_channels.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/passes/calibrate.h"
#include "compiler/passes/drop_weights.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using passes::Calibration;
using tests::Graph;
using tests::GraphParts;
using tests::Op;

namespace {

constexpr ir::FeatureMap image{6, 6, 3};
constexpr std::uint32_t channels = 4;
constexpr std::uint32_t multiplier = 2;
constexpr std::uint32_t image_count = 4;

Calibration image_calibration(const ir::Graph& graph) {
    GraphParts parts(7);
    return {.inputs = parts.values(image_count * graph.input().shape.elements()),
            .count = image_count,
            .encoding = {}};
}

/// Multiplies weights and bias, whose last axis is the output channel.
void scale_channels(Op& op, const std::vector<float>& factors) {
    for (std::size_t i = 0; i < op.weights.size(); ++i) op.weights[i] *= factors[i % factors.size()];
    for (std::size_t i = 0; i < op.bias.size(); ++i) op.bias[i] *= factors[i % factors.size()];
}

/// A convolution whose channels have ranges apart by these factors, for one of 1x1.
Op uneven_convolution(GraphParts& parts, const std::vector<float>& factors) {
    Op op = parts.convolution(image, {}, channels, true);
    scale_channels(op, factors);
    return op;
}

/// A depthwise convolution that makes its results even again.
Op balancing_depthwise(GraphParts& parts, const std::vector<float>& factors) {
    Op op = parts.depthwise({6, 6, channels}, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1},
                            multiplier, true);
    std::vector<float> back;
    for (const float factor : factors) back.insert(back.end(), multiplier, 1.0F / factor);
    const std::vector<float> bias = op.bias;
    scale_channels(op, back);
    op.bias = bias;
    return op;
}

/// The largest number of each channel of a value.
std::vector<float> largest_of(const ir::Graph& graph, ir::ValueId id, const std::vector<float>& inputs) {
    std::vector<float> largest(graph.values[id].shape.extents().back(), 0.0F);
    reference::execute(graph, inputs, image_count, [&](ir::ValueId value, std::span<const float> numbers) {
        if (value != id) return;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            float& so_far = largest[i % largest.size()];
            so_far = std::max(so_far, std::abs(numbers[i]));
        }
    });
    return largest;
}

const std::vector<float> uneven{1.0F, 0.5F, 0.125F, 0.001F};

}  // namespace

TEST_CASE("Channels before a depthwise convolution grow to the tensor's range", "[compiler][passes]") {
    const std::string function = GENERATE("", "relu", "leaky_relu");
    INFO("function " << function);
    GraphParts parts(3);
    Graph graph = tests::graph_of(image);
    graph.append("conv", uneven_convolution(parts, uneven), {0});
    if (function == "relu") graph.append("f", tests::op("relu"), {1});
    if (function == "leaky_relu") graph.append("f", tests::op("leaky_relu", {{"alpha", 0.1}}), {1});
    const tests::NodeId last = function.empty() ? 1 : 2;
    graph.append("depthwise", balancing_depthwise(parts, uneven), {last});
    const Calibration calibration = image_calibration(graph);
    const ir::Graph equalized = passes::calibrate(graph, calibration);

    const std::vector<float> before = largest_of(graph, graph.value(last), calibration.inputs);
    const std::vector<float> after = largest_of(equalized, graph.value(last), calibration.inputs);
    const float whole = *std::max_element(before.begin(), before.end());
    CHECK(*std::max_element(after.begin(), after.end()) == Approx(whole));
    for (std::size_t c = 0; c < channels; ++c) {
        INFO("channel " << c);
        CHECK(after[c] >= before[c] * 0.999F);
        CHECK(after[c] <= whole * 1.001F);
        CHECK(after[c] <= 8 * before[c] * 1.001F);
    }
    // The last one was far below the others: it has grown by as much as any may.
    CHECK(after[3] == Approx(8 * before[3]));
    CHECK(after[1] > 1.2F * before[1]);
    CHECK(difference(graph, equalized) < 1e-4);
    CHECK(equalized.values[graph.value(last)].range->maximum ==
          Approx(passes::calibrate(equalized, calibration).values[graph.value(last)].range->maximum));
}

TEST_CASE("Small channels keep as many steps as large ones", "[compiler][passes]") {
    const std::uint32_t runs = tests::random_runs(20);
    double steps = 0.0;
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        GraphParts parts(seed);
        const std::vector<float> factors{1.0F, 0.125F, 0.125F, 0.125F};
        Graph graph = tests::graph_of(image);
        graph.append("conv", uneven_convolution(parts, factors), {0});
        graph.append("relu", tests::op("relu"), {1});
        graph.append("depthwise", balancing_depthwise(parts, factors), {2});
        const Calibration calibration = image_calibration(graph);
        steps += error_in_steps(graph, quantized(graph, calibration), calibration.inputs);
    }
    // 1.2; without it, 2.2.
    CHECK(steps / runs < 1.6);
}

TEST_CASE("Channels that something else depends on are not scaled", "[compiler][passes]") {
    GraphParts parts(5);
    Graph graph = tests::graph_of(image);
    graph.append("conv", uneven_convolution(parts, uneven), {0});
    const Op depthwise = balancing_depthwise(parts, uneven);
    SECTION("nothing else does") {
        graph.append("depthwise", depthwise, {1});
        CHECK(passes::channel_chains(graph).size() == 1);
        const auto chain = passes::channel_chains(graph).front();
        CHECK(chain.stored == std::vector<ir::ValueId>{graph.value(1)});
        graph.get().outputs.push_back(graph.value(1));
        CHECK(passes::channel_chains(graph).empty());
    }
    SECTION("another reader") {
        graph.append("depthwise", depthwise, {1});
        graph.append("other", tests::op("sigmoid"), {1});
        CHECK(passes::channel_chains(graph).empty());
    }
    SECTION("a limit") {
        graph.append("relu6", tests::op("relu", {{"maximum", 6.0}}), {1});
        graph.append("depthwise", depthwise, {2});
        CHECK(passes::channel_chains(graph).empty());
    }
    SECTION("a function that does not scale with its input") {
        graph.append("tanh", tests::op("tanh"), {1});
        graph.append("depthwise", depthwise, {2});
        CHECK(passes::channel_chains(graph).empty());
    }
    SECTION("16 bits") {
        graph.append("depthwise", depthwise, {1});
        graph.store(1, 16);
        CHECK(passes::channel_chains(graph).empty());
    }
    SECTION("a convolution over all channels reads them") {
        graph.append("next", parts.convolution({6, 6, channels}, {}, 2, false), {1});
        CHECK(passes::channel_chains(graph).empty());
    }
    SECTION("the network's input") {
        Graph other = tests::graph_of({6, 6, channels});
        other.append("depthwise", depthwise, {0});
        CHECK(passes::channel_chains(other).empty());
    }
    SECTION("unknown weights") {
        graph.append("depthwise", depthwise, {1});
        CHECK(passes::channel_chains(passes::drop_weights(graph)).empty());
    }
}

TEST_CASE("Nodes that share weights with others get their own", "[compiler][passes]") {
    GraphParts parts(6);
    Graph graph = tests::graph_of(image);
    graph.append("conv", uneven_convolution(parts, uneven), {0});
    graph.append("depthwise", balancing_depthwise(parts, uneven), {1});
    graph.append("other", uneven_convolution(parts, uneven), {0});
    graph.get().nodes[2].inputs = graph.get().nodes[0].inputs;
    graph.get().outputs = {graph.value(3)};
    const ir::Graph equalized = passes::calibrate(graph, image_calibration(graph));
    CHECK(difference(graph, equalized) == 0.0);
    graph.get().outputs = {graph.value(2)};
    ir::Graph both = equalized;
    both.outputs = graph.get().outputs;
    CHECK(difference(graph, both) < 1e-4);
}

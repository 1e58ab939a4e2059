
#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/passes/drop_weights.h"
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
            CHECK(ir::encoding_of(graph.values[input]) == ir::encoding_of(graph.values[node.output()]));
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
    const NodeId apart = scaled(graph, 0, 1.0F);                                     // 5
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

namespace {

/// How other nodes, or the user, read a tensor that is also concatenated.
enum class OtherReader { Convolution, PooledConvolution, ConvolutionOfPooled, Output, Concatenation };

/// The tensor "kept", of numbers up to 1, is concatenated with "wide", of numbers up to `width`, and has
/// another reader.
struct SharedTensor {
    Graph graph = tests::graph_of({4, 4, 2});
    NodeId kept = 0;
    NodeId wide = 0;
    NodeId joined = 0;

    SharedTensor(OtherReader reader, float width) {
        kept = scaled(graph, 0, 0.5F);
        wide = scaled(graph, 0, width * 0.5F);
        const bool joins_pooled = reader == OtherReader::ConvolutionOfPooled;
        const NodeId part = joins_pooled ? graph.append("pool", max_pool(), {kept}) : kept;
        joined = concatenated(graph, {part, wide});
        const ir::ValueId output = graph.value(joined);
        switch (reader) {
            case OtherReader::Convolution:
                scaled(graph, kept, 1.0F);
                break;
            case OtherReader::ConvolutionOfPooled:
                scaled(graph, part, 1.0F);
                break;
            case OtherReader::PooledConvolution:
                scaled(graph, graph.append("pool", max_pool(), {kept}), 1.0F);
                break;
            case OtherReader::Output:
                graph.get().outputs = {graph.value(kept)};
                break;
            case OtherReader::Concatenation:
                concatenated(graph, {kept, scaled(graph, 0, 0.5F)});
                break;
        }
        graph.get().outputs.push_back(output);
    }
};

}  // namespace

TEST_CASE("A wide range of a concatenation is not put on tensors that others read too",
          "[compiler][passes]") {
    const OtherReader reader =
        GENERATE(OtherReader::Convolution, OtherReader::PooledConvolution, OtherReader::ConvolutionOfPooled,
                 OtherReader::Output, OtherReader::Concatenation);
    const float width = GENERATE(3.0F, 77.0F, -50.0F);
    INFO("reader " << static_cast<int>(reader) << ", width " << width);
    const SharedTensor made(reader, width);
    const passes::Calibration calibration = calibration_of(made.graph);
    const ir::Graph ranges = passes::calibrate(made.graph, calibration);
    const ir::Graph united = passes::unite_ranges(ranges);
    CHECK(united.values[made.graph.value(made.kept)].range ==
          ranges.values[made.graph.value(made.kept)].range);
    // No other node reads the wide tensor: it lies in the result as it is.
    CHECK(united.values[made.graph.value(made.wide)].range ==
          united.values[made.graph.value(made.joined)].range);
    const ir::Graph network = passes::quantize(united, {});
    check_encodings(network);
    // The other concatenation converts as well.
    CHECK(lookups(network) == (reader == OtherReader::Concatenation ? 2U : 1U));
}

TEST_CASE("A tensor that others read shares the range of a concatenation that is about as wide",
          "[compiler][passes]") {
    const float width = GENERATE(0.9F, 1.0F, 1.3F);
    const SharedTensor made(OtherReader::Convolution, width);
    const ir::Graph network = passes::prepare(made.graph, calibration_of(made.graph));
    check_encodings(network);
    // The conversion is there, as with any other ranges, and changes nothing.
    const ir::Node& conversion = node_of(network, "lookup");
    const auto table = network.values[conversion.inputs.at(1)].constant->values<std::uint8_t>();
    for (std::size_t i = 0; i < table.size(); ++i) CHECK(table[i] == i);
    CHECK(lookups(network) == 1);
}

TEST_CASE("A concatenation takes the same conversions where nothing is known of its ranges",
          "[compiler][passes]") {
    const OtherReader reader =
        GENERATE(OtherReader::Convolution, OtherReader::PooledConvolution, OtherReader::ConvolutionOfPooled,
                 OtherReader::Output, OtherReader::Concatenation);
    const float width = GENERATE(1.0F, 77.0F);
    INFO("reader " << static_cast<int>(reader) << ", width " << width);
    const SharedTensor made(reader, width);
    const ir::Graph network = passes::prepare(passes::drop_weights(made.graph), {});
    check_encodings(network);
    CHECK(kinds(network) == kinds(passes::prepare(made.graph, calibration_of(made.graph))));
}

TEST_CASE("Concatenations do not convert tensors that nobody else reads, nor tensors of 16 bits",
          "[compiler][passes]") {
    Graph graph = tests::graph_of({4, 4, 2});
    const NodeId a = scaled(graph, 0, 0.1F);
    const NodeId pooled = graph.append("pool", max_pool(), {scaled(graph, 0, 5.0F)});
    const NodeId inner = concatenated(graph, {a, pooled});
    concatenated(graph, {inner, scaled(graph, 0, 70.0F), inner});
    CHECK(lookups(passes::prepare(graph, calibration_of(graph))) == 0);

    const SharedTensor made(OtherReader::Convolution, 77.0F);
    ir::Graph wide = made.graph;
    for (ir::Value& value : wide.values) value.stored_as = DataType::Int16;
    CHECK(lookups(passes::prepare(wide, calibration_of(wide))) == 0);
}

TEST_CASE("What pooling writes into a result shares its range, whoever reads the tensor before",
          "[compiler][passes]") {
    // As in the reductions of Inception networks. A conversion would take a copy as well.
    Graph graph = tests::graph_of({4, 4, 2});
    const NodeId kept = scaled(graph, 0, 0.5F);
    const NodeId pooled = graph.append("pool", max_pool(), {kept});
    const NodeId joined = concatenated(graph, {pooled, scaled(graph, 0, 70.0F)});
    const NodeId other = scaled(graph, kept, 1.0F);
    graph.get().outputs = {graph.value(joined), graph.value(other)};
    CHECK(lookups(passes::prepare(graph, calibration_of(graph))) == 0);
    // If others read the maxima too, they have rows of their own, which are copied.
    const NodeId third = scaled(graph, pooled, 1.0F);
    graph.get().outputs = {graph.value(joined), graph.value(other), graph.value(third)};
    CHECK(lookups(passes::prepare(graph, calibration_of(graph))) == 1);
}

TEST_CASE("The host converts the parts of a concatenation along another axis itself", "[compiler][passes]") {
    Graph graph = tests::graph_of({4, 4, 2});
    const NodeId kept = scaled(graph, 0, 0.5F);
    const NodeId joined = graph.append("concat", tests::op("concat", {{"axis", std::int64_t{1}}}),
                                       {kept, scaled(graph, 0, 80.0F)});
    const NodeId other = scaled(graph, kept, 1.0F);
    graph.get().outputs = {graph.value(joined), graph.value(other)};
    const ir::Graph network = passes::prepare(graph, calibration_of(graph));
    CHECK(lookups(network) == 0);
    const ir::Node& concat = node_of(network, "concat");
    CHECK(ir::encoding_of(network.values[concat.inputs[0]]).scale * 20.0 <
          ir::encoding_of(network.values[concat.output()]).scale);
    CHECK(kinds(network) == kinds(passes::prepare(passes::drop_weights(graph), {})));
}

TEST_CASE("A chain of concatenations widens only the tensors behind a wide branch", "[compiler][passes]") {
    // As in DenseNet: each tensor is read by a layer and by the next concatenation.
    Graph graph = tests::graph_of({4, 4, 2});
    std::vector<NodeId> chain{scaled(graph, 0, 0.5F)};
    const std::vector<float> widths{0.5F, 0.5F, 40.0F, 0.5F};
    for (const float width : widths) {
        const NodeId branch = scaled(graph, scaled(graph, chain.back(), 0.2F), 1.0F);
        const NodeId wider = scaled(graph, branch, width);
        chain.push_back(concatenated(graph, {chain.back(), wider}));
    }
    const ir::Graph ranges = passes::calibrate(graph, calibration_of(graph));
    const ir::Graph united = passes::unite_ranges(ranges);
    const auto width_of = [&](const ir::Graph& of, std::size_t link) {
        const Range range = of.values[graph.value(chain[link])].range.value();
        return range.maximum - range.minimum;
    };
    for (std::size_t link = 0; link < chain.size(); ++link) {
        INFO("link " << link);
        CHECK(width_of(united, link) < 2.0F * width_of(ranges, link));
    }
    CHECK(width_of(united, 4) > 8.0F * width_of(united, 0));
}

TEST_CASE("A dense layer reads a tensor that others read too in its own range", "[compiler][passes]") {
    Graph graph = tests::graph_of({1, 1, 4});
    const NodeId kept = scaled(graph, 0, 0.25F, 4);
    const NodeId wide = scaled(graph, 0, 20.0F, 4);
    const bool is_shared = GENERATE(true, false);
    if (is_shared) concatenated(graph, {kept, scaled(graph, 0, 0.25F, 4)});
    const std::vector<float> weights(std::size_t{8} * 3, 0.1F);
    const ir::ValueId other = graph.value(static_cast<NodeId>(graph.size() - 1));
    graph.append("dense", tests::dense(8, 3, weights), {kept, wide});
    if (is_shared) graph.get().outputs.push_back(other);
    const ir::Graph ranges = passes::calibrate(graph, calibration_of(graph));
    const ir::Graph united = passes::unite_ranges(ranges);
    const bool is_own = united.values[graph.value(kept)].range == ranges.values[graph.value(kept)].range;
    CHECK(is_own == is_shared);
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
    CHECK(ir::encoding_of(network.input()).scale == 1.0 / 255);
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

#include "compiler/passes/quantize.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using ir::Encoding;
using ir::encoding_of;
using ir::FeatureMap;
using passes::Calibration;
using tests::Graph;
using tests::GraphParts;
using tests::NodeId;

namespace {

constexpr std::uint32_t batch = 16;

/// Inputs from `low` to 1, to calibrate with and to run.
Calibration inputs_for(const ir::Graph& graph, float low = 0.0F) {
    GraphParts parts(1);
    return {.inputs = parts.values(batch * graph.input().shape.elements(), low, 1.0F),
            .count = batch,
            .encoding = {}};
}

using Clamp = std::vector<std::int64_t>;

/// The operators of the nodes, in order.
std::vector<std::string> operators_of(const ir::Graph& graph) {
    std::vector<std::string> names;
    for (const ir::Node& node : graph.nodes) names.emplace_back(node.op->name());
    return names;
}
using Names = std::vector<std::string>;

/// input -> convolution, on a 6x6x2 image.
Graph convolved(std::uint32_t seed) {
    GraphParts parts(seed);
    Graph graph = tests::graph_of({6, 6, 2});
    const ir::Window window{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    graph.append("conv", parts.convolution({6, 6, 2}, window, 4, true), {0});
    return graph;
}

}  // namespace

TEST_CASE("Quantized layers with weights equal the float layers up to a few steps", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        INFO("seed " << seed);
        GraphParts parts(seed);
        const ir::FeatureMap shape = parts.shape();
        Graph graph = tests::graph_of(shape);
        if (seed % 3 == 0) graph.append("l", parts.convolution(shape, parts.window(shape), 5, true), {0});
        if (seed % 3 == 1) graph.append("l", parts.depthwise(shape, parts.window(shape), 2, true), {0});
        if (seed % 3 == 2) graph.append("l", parts.dense(shape, 9, true), {0});
        const Calibration calibration = inputs_for(graph, seed % 2 == 0 ? 0.0F : -1.0F);
        const ir::Graph integers = quantized(graph, calibration);
        REQUIRE(integers.nodes.size() == 1);
        CHECK(integers.nodes[0].name == "l");
        CHECK((encoding_of(integers.input()).zero_point == 0) == (seed % 2 == 0));
        // Half a step of the output, and what the rounding of weights and inputs adds up to.
        CHECK(error_in_steps(graph, integers, calibration.inputs) < 3.0);
    }
}

TEST_CASE("A ReLU becomes a clamp at zero", "[compiler][passes]") {
    Graph graph = convolved(1);
    tests::Op relu = tests::op("relu");
    const bool limited = GENERATE(false, true);
    if (limited) relu.attributes = {{"maximum", 0.5}};
    graph.append("relu", relu, {1});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    REQUIRE(operators_of(integers) == Names{"convolution"});
    CHECK(integers.nodes[0].integers("clamp") == Clamp{0, 255});
    const Encoding output = encoding_of(integers.output());
    CHECK(integers.output().name == "relu");
    CHECK(output.zero_point == 0);
    if (limited) CHECK(output.scale == Approx(0.5 / 255));
    // Steps of the limited output are smaller; the errors of weights and inputs are not.
    CHECK(error_in_steps(graph, integers, calibration.inputs) < (limited ? 15.0 : 3.0));
}

TEST_CASE("A limit above what calibration saw still clamps", "[compiler][passes]") {
    Graph graph = tests::graph_of({1, 1, 1});
    graph.append("dense", tests::dense(1, 1, {1.0F}), {0});
    graph.append("relu6", tests::op("relu", {{"maximum", 6.0}}), {1});
    const Calibration calibration{.inputs = {10.0F, 0.0F}, .count = 2, .encoding = {}};
    const ir::Graph integers = quantized(graph, calibration);
    CHECK(integers.nodes[0].integers("clamp") == Clamp{0, 255});
    CHECK(encoding_of(integers.output()).scale == Approx(6.0 / 255));
}

TEST_CASE("Other functions become a table behind the sums, done with them", "[compiler][passes]") {
    const std::string function = GENERATE("sigmoid", "tanh", "leaky_relu", "swish");
    Graph graph = convolved(2);
    INFO(function);
    tests::Op op = tests::op(function);
    if (function == "leaky_relu") op.attributes = {{"alpha", 0.1}};
    graph.append("function", op, {1});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    REQUIRE(operators_of(integers) == Names{"convolution", "lookup"});
    CHECK(integers.nodes[0].integers("clamp").empty());
    const tpu_v1::Network network = tpu_v1::lower(integers);
    REQUIRE(network.layers.size() == 1);
    CHECK(network.layers[0].name == "conv");
    const auto& rules = std::get<tpu_v1::MatrixProduct>(network.layers[0].work).requantization;
    CHECK(rules.table.has_value());
    CHECK(rules.minimum == 0);
    CHECK(rules.maximum == 255);
    CHECK(network.tensors[network.outputs.front()].scale == encoding_of(integers.output()).scale);
    CHECK(error_in_steps(graph, integers, calibration.inputs) < 6.0);
}

TEST_CASE("An activation function is fused only if it is the layer's only reader", "[compiler][passes]") {
    Graph graph = convolved(3);
    graph.append("relu", tests::op("relu"), {1});
    graph.append("sum", tests::op("add"), {1, 2});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    REQUIRE(operators_of(integers) == Names{"convolution", "lookup", "add"});
    CHECK(encoding_of(integers.values[integers.nodes[0].output()]).zero_point != 0);
    CHECK(integers.nodes[1].name == "relu");
    CHECK(integers.nodes[2].inputs == std::vector{integers.nodes[0].output(), integers.nodes[1].output()});
    CHECK(tpu_v1::lower(integers).layers.size() == 3);
    CHECK(error_in_steps(graph, integers, calibration.inputs) < 4.0);
}

TEST_CASE("A sum brings two scales together", "[compiler][passes]") {
    const bool relu = GENERATE(false, true);
    Graph graph = convolved(4);
    GraphParts parts(5);
    tests::Op small = parts.convolution({6, 6, 2}, {}, 4, false);
    for (float& weight : small.weights) weight *= 0.1F;
    const NodeId other = graph.append("small", small, {0});
    NodeId sum = graph.append("sum", tests::op("add"), {1, other});
    if (relu) sum = graph.append("relu", tests::op("relu"), {sum});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    REQUIRE(operators_of(integers) == Names{"convolution", "convolution", "add"});
    const Encoding output = encoding_of(integers.output());
    CHECK(integers.nodes[2].integers("clamp") == (relu ? Clamp{output.zero_point, 255} : Clamp{}));
    CHECK((output.zero_point == 0) == relu);
    CHECK(error_in_steps(graph, integers, calibration.inputs) < 3.0);
}

TEST_CASE("Pooling keeps its input's encoding", "[compiler][passes]") {
    const std::string kind = GENERATE("max_pool", "average_pool");
    Graph graph = convolved(6);
    graph.append("pool", tests::pool(kind, ir::Window{2, 2, 2, 2}), {1});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    REQUIRE(operators_of(integers) == Names{"convolution", kind});
    CHECK(encoding_of(integers.output()) == encoding_of(integers.values[integers.nodes[1].inputs[0]]));
    const tpu_v1::Network network = tpu_v1::lower(integers);
    CHECK_FALSE(std::get<tpu_v1::Pooling>(network.layers[1].work).count_padding);
    CHECK(error_in_steps(graph, integers, calibration.inputs) < 3.5);
}

TEST_CASE("A border that no convolution includes is a layer of its own", "[compiler][passes]") {
    Graph graph = convolved(7);
    graph.append("border", tests::zero_padding(1, 0, 0, 2), {1});
    graph.append("pool", tests::pool("max_pool", ir::Window{2, 2, 2, 2}), {2});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    const tpu_v1::Network network = tpu_v1::lower(integers);
    REQUIRE(network.layers.size() == 3);
    const auto& pool = std::get<tpu_v1::Pooling>(network.layers[1].work);
    CHECK(pool.count_padding);
    CHECK(pool.window == ir::Window{.pad_top = 1, .pad_right = 2});
    CHECK(error_in_steps(graph, integers, calibration.inputs) < 3.0);
}

TEST_CASE("The input is stored as the caller says", "[compiler][passes]") {
    const Graph graph = convolved(8);
    Calibration calibration = inputs_for(graph);
    calibration.encoding = passes::InputEncoding{1.0 / 255, 0};
    const ir::Graph integers = quantized(graph, calibration);
    CHECK(encoding_of(integers.input()) == Encoding{1.0 / 255, 0});

    calibration.encoding = passes::InputEncoding{0.0, 0};
    CHECK_THROWS_WITH(quantized(graph, calibration),
                      "made: layer \"input\": the scale of the input is 0; it must be above 0");
    calibration.encoding = passes::InputEncoding{1.0, 256};
    CHECK_THROWS_AS(quantized(graph, calibration), ModelError);
}

TEST_CASE("A final softmax is left to the host, another is a segment of it", "[compiler][passes]") {
    // Over each pixel's channels, it is a segment, too: at the end, the host knows only whole outputs.
    Graph by_pixel = convolved(9);
    by_pixel.append("top", tests::op("softmax"), {1});
    const ir::Graph pixels = quantized(by_pixel, inputs_for(by_pixel));
    CHECK(operators_of(pixels) == Names{"convolution", "softmax"});
    CHECK(pixels.output().type == DataType::Float32);
    const tpu_v1::Network all = tpu_v1::lower(pixels);
    CHECK(all.host_operations.empty());
    REQUIRE(all.layers.size() == 2);
    CHECK(tpu_v1::runs_on_host(all.layers[1]));

    GraphParts parts(9);
    Graph graph = tests::graph_of({6, 6, 2});
    const ir::Window whole{.kernel_height = 6, .kernel_width = 6};
    graph.append("conv", parts.convolution({6, 6, 2}, whole, 4, true), {0});
    graph.append("top", tests::op("softmax"), {1});
    const ir::Graph integers = quantized(graph, inputs_for(graph));
    CHECK(operators_of(integers) == Names{"convolution", "softmax"});
    CHECK(integers.output().type == DataType::Float32);
    const tpu_v1::Network network = tpu_v1::lower(integers);
    REQUIRE(network.host_operations.size() == 1);
    CHECK(network.host_operations[0].kind == "softmax");
    CHECK(network.host_operations[0].layer == "top");
    CHECK(network.outputs.front() == network.layers[0].output);

    graph.append("behind", tests::op("relu"), {2});
    const ir::Graph inside = quantized(graph, inputs_for(graph));
    CHECK(operators_of(inside) == Names{"convolution", "softmax", "lookup"});
    CHECK(inside.values[inside.nodes[1].output()].type == DataType::Uint8);
    const tpu_v1::Network segmented = tpu_v1::lower(inside);
    CHECK(segmented.host_operations.empty());
    REQUIRE(segmented.layers.size() == 3);
    CHECK(tpu_v1::runs_on_host(segmented.layers[1]));
}

TEST_CASE("A reshape between layers that depend on the shape costs nothing", "[compiler][passes]") {
    GraphParts parts(10);
    Graph graph = tests::graph_of({1, 1, 5});
    graph.append("dense", parts.dense({1, 1, 5}, 32, true), {0});
    graph.append("image", tests::reshape(ir::FeatureMap{4, 4, 2}), {1});
    graph.append("conv", parts.convolution({4, 4, 2}, {3, 3}, 2, true), {2});
    graph.append("flat", tests::reshape(ir::FeatureMap{1, 1, 8}), {3});
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    const tpu_v1::Network network = tpu_v1::lower(integers);
    REQUIRE(network.layers.size() == 3);
    CHECK(network.tensors[network.layers[0].output].shape == ir::FeatureMap{1, 1, 32});
    CHECK(network.tensors[network.layers[1].output].shape == ir::FeatureMap{4, 4, 2});
    CHECK(network.layers[1].name == "image");
    CHECK(std::get<tpu_v1::Slice>(network.layers[1].work).first_element == 0);
    CHECK(network.outputs.front() == network.layers[2].output);
    CHECK(error_in_steps(graph, integers, calibration.inputs) < 4.0);
}

TEST_CASE("Quantization without usable calibration inputs is refused", "[compiler][passes]") {
    const Graph graph = convolved(12);
    CHECK_THROWS_WITH(quantized(graph, {}),
                      "made: there are no calibration inputs; quantization needs at least 1");
    Calibration calibration = inputs_for(graph);
    calibration.inputs.pop_back();
    CHECK_THROWS_AS(quantized(graph, calibration), ModelError);
    calibration = inputs_for(graph);
    calibration.inputs[7] = std::numeric_limits<float>::infinity();
    CHECK_THROWS_WITH(quantized(graph, calibration),
                      "made: layer \"input\": it gives inf on a calibration input; results must be finite");
}

TEST_CASE("Numbers that the host alone computes may be infinite or NaN, those that are stored may not",
          "[compiler][passes]") {
    const auto masked = [](const std::string& mask) {
        return tests::graph_of_text(
            "graph \"masked\"\ninputs %0, %1\noutputs %6\n"
            "%0 float32 1x2x2 \"a\"\n%1 float32 1x2x2 \"b\"\n%2 float32 1x2x2 \"scores\"\n"
            "%3 float32 1x2x2 \"mask\" = " +
            mask +
            "\n%4 float32 1x2x2 \"hidden\"\n%5 float32 1x2x2 \"weights\"\n%6 float32 1x2x2 "
            "\"y\"\n%2 = matrix_product(%0, %1) \"scores\"\n%4 = add(%2, %3) \"hidden\"\n%5 = "
            "softmax(%4) \"weights\"\n%6 = matrix_product(%5, %1) \"y\"\n");
    };
    const std::vector<float> a{0.5F, -1.0F, 1.0F, 0.25F};
    const std::vector<float> b{1.0F, 0.5F, -0.5F, 1.0F};
    const Calibration calibration{.inputs = a, .count = 1, .encoding = {}, .further_inputs = {b}};
    const ir::Graph graph = masked("[0.0, -inf, 0.0, 0.0]");
    const ir::Graph ranges = passes::calibrate(graph, calibration);
    CHECK(ranges.values[4].range == ir::Range{-std::numeric_limits<float>::infinity(), 1.0F});
    const ir::Graph stored = passes::quantize(ranges, {});
    REQUIRE(ir::find_fault(stored).value_or("") == "");
    const auto hidden = std::ranges::find(stored.values, "hidden", &ir::Value::name);
    REQUIRE(hidden != stored.values.end());
    CHECK(hidden->type == DataType::Float32);
    // NaN, which is neither above nor below a number, goes on to the network's output.
    CHECK_THROWS_WITH(passes::calibrate(masked("bytes 000000000000c07f0000000000000000"), calibration),
                      "masked: layer \"y\": it gives nan on a calibration input; results must be finite");
    // A table stores what it reads.
    const Graph table = [] {
        Graph made = tests::graph_of({1, 1, 4});
        const NodeId logarithm = made.append("logarithm", tests::op("log"), {0});
        made.append("back", tests::op("exp"), {logarithm});
        return made;
    }();
    CHECK_THROWS_WITH(quantized(table, {.inputs = {1.0F, 0.5F, 0.0F, 2.0F}, .count = 1, .encoding = {}}),
                      "made: layer \"logarithm\": it gives -inf on a calibration input; results must be "
                      "finite");
}

TEST_CASE("Outputs with the same elements are copies of each other on the chip", "[compiler][passes]") {
    Graph graph = convolved(3);
    const NodeId flat = graph.append("flat", tests::reshape(FeatureMap{1, 1, 144}), {1});
    const NodeId column = graph.append("column", tests::reshape(FeatureMap{144, 1, 1}), {1});
    const bool has_16_bits = GENERATE(false, true);
    if (has_16_bits) {
        for (ir::Value& value : graph.get().values) value.stored_as = DataType::Int16;
    }
    graph.get().outputs = {graph.value(1), graph.value(flat), graph.value(column)};
    const Calibration calibration = inputs_for(graph);
    const ir::Graph integers = quantized(graph, calibration);
    REQUIRE(ir::find_fault(integers).value_or("") == "");
    const tpu_v1::Network network = tpu_v1::lower(integers);
    CHECK(network.outputs.size() == 3);
    const char* const copies = has_16_bits ? "requantize" : "lookup";
    CHECK(std::ranges::count_if(integers.nodes, [&](const ir::Node& node) { return node.is(copies); }) == 2);
    std::vector<std::uint8_t> input(std::size_t{6} * 6 * 2 * (has_16_bits ? 2 : 1));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::uint8_t>(i * 37);
    const std::vector<std::span<const std::uint8_t>> inputs{input};
    const std::vector<reference::TensorBytes> outputs = reference::run(integers, inputs, 1);
    REQUIRE(outputs.size() == 3);
    CHECK(outputs[1] == outputs[0]);
    CHECK(outputs[2] == outputs[0]);
}

TEST_CASE("A network without a layer gives its input", "[compiler][passes]") {
    const Graph graph = tests::graph_of({2, 2, 1});
    const tpu_v1::Network network = tpu_v1::lower(passes::prepare(graph, inputs_for(graph)));
    CHECK(network.layers.empty());
    CHECK(network.outputs == network.inputs);
}

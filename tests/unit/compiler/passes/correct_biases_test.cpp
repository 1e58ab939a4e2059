#include "compiler/passes/correct_biases.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using passes::Calibration;
using tests::Graph;
using tests::GraphParts;

namespace {

constexpr std::uint32_t bias_images = 4;
constexpr ir::FeatureMap positive_map{6, 6, 24};

/// A layer on numbers above 0, as behind a ReLU.
Graph weighted(const std::string& op, std::uint32_t seed) {
    GraphParts parts(seed);
    Graph graph = tests::graph_of(positive_map);
    const ir::Window window{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    if (op == "convolution") graph.append("l", parts.convolution(positive_map, window, 8, true), {0});
    if (op == "depthwise") graph.append("l", parts.depthwise(positive_map, window, 2, true), {0});
    if (op == "dense") graph.append("l", parts.dense(positive_map, 8, true), {0});
    return graph;
}

/// The sum, over the channels of the result, of the squared mean error.
double mean_error(const ir::Graph& graph, const ir::Graph& integers, const std::vector<float>& inputs) {
    const ir::Encoding in = ir::encoding_of(integers.input());
    const ir::Encoding out = ir::encoding_of(integers.output());
    std::vector<std::uint8_t> stored;
    for (const float value : inputs) stored.push_back(static_cast<std::uint8_t>(in.stored(value)));
    const std::vector<std::uint8_t> bytes = reference::execute(integers, stored, bias_images);
    const std::vector<float> expected = reference::execute(graph, inputs, bias_images);
    std::vector<double> errors(graph.output_map().channels, 0.0);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        errors[i % errors.size()] += (out.real(bytes[i]) - double{expected[i]}) / out.scale;
    }
    double sum = 0.0;
    for (const double error : errors) {
        const double mean = error / (static_cast<double>(bytes.size()) / static_cast<double>(errors.size()));
        sum += mean * mean;
    }
    return sum;
}

}  // namespace

TEST_CASE("Corrected biases take back what rounded weights add to the mean", "[compiler][passes]") {
    const std::string op = GENERATE("convolution", "depthwise", "dense");
    double before = 0.0;
    double after = 0.0;
    for (std::uint32_t seed = 0; seed < tests::random_runs(10); ++seed) {
        const Graph graph = weighted(op, seed);
        const Calibration calibration{
            .inputs = GraphParts(seed + 1).values(bias_images * graph.input_shape().elements(), 0.2F, 1.0F),
            .count = bias_images,
            .encoding = {}};
        const ir::Graph real = passes::unite_ranges(passes::calibrate(graph, calibration));
        const ir::Graph rounded = passes::quantize(real, {});
        const ir::Graph corrected = passes::correct_biases(rounded, real, calibration);
        before += mean_error(graph, rounded, calibration.inputs);
        after += mean_error(graph, corrected, calibration.inputs);
    }
    INFO(op << ": " << before << " before, " << after << " after");
    CHECK(after < 0.5 * before);
}

TEST_CASE("Layers are corrected by their names, wherever they are in both graphs", "[compiler][passes]") {
    const Graph graph = weighted("convolution", 1);
    const Calibration calibration{
        .inputs = GraphParts(2).values(bias_images * graph.input_shape().elements(), 0.2F, 1.0F),
        .count = bias_images,
        .encoding = {}};
    const auto float_form = [&](const Graph& made) {
        return passes::unite_ranges(passes::calibrate(made, calibration));
    };
    const auto biases = [](const ir::Graph& integers) {
        const ir::NodeView node(integers, integers.nodes.front());
        const auto numbers = node.constant(1)->constant->values<std::int32_t>();
        return std::vector<std::int32_t>(numbers.begin(), numbers.end());
    };
    const ir::Graph real = float_form(graph);
    const ir::Graph rounded = passes::quantize(real, {});
    const std::vector<std::int32_t> corrected = biases(passes::correct_biases(rounded, real, calibration));
    REQUIRE(corrected != biases(rounded));

    // Layers of which the integers have none.
    Graph more(positive_map);
    more.append("before", GraphParts(3).dense(positive_map, 5, true), {0});
    GraphParts parts(1);
    const ir::Window window{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    more.append("l", parts.convolution(positive_map, window, 8, true), {0});
    CHECK(biases(passes::correct_biases(rounded, float_form(more), calibration)) == corrected);

    // One that the float form does not have.
    ir::Graph renamed = real;
    renamed.nodes.front().name = "other";
    CHECK_THROWS_WITH(passes::correct_biases(rounded, renamed, calibration),
                      "the biases of layer \"l\" cannot be corrected: 0 layers in float for 1 on integers");
}

TEST_CASE("Biases without values are not corrected", "[compiler][passes]") {
    const Graph graph = weighted("convolution", 1);
    const ir::Graph network = passes::prepare(passes::drop_weights(graph), {});
    CHECK_FALSE(network.has_weights);
}

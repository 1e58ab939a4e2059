// Layers whose weights and bias are no constants: another node computes them, for each inference.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_order.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Floats = std::vector<float>;

const std::string two_inputs = "graph \"g\"\ninputs %0, %1\n";

/// A node with weights of its inputs' shapes.
struct Layer {
    tests::Op op;
    ir::FeatureMap input;
};

/// A convolution of any kind, or a dense layer, with a bias or none.
Layer drawn_layer(tests::GraphParts& parts, std::uint32_t kind) {
    const ir::FeatureMap map = parts.shape();
    const bool has_bias = parts.number(0, 1) == 0;
    if (kind == 0) return {parts.dense(map, parts.number(1, 4), has_bias), map};
    const ir::Window window = parts.window(map);
    if (kind == 1) return {parts.convolution(map, window, parts.number(1, 4), has_bias), map};
    if (kind == 2) return {parts.depthwise(map, window, parts.number(1, 3), has_bias), map};
    const std::uint32_t filters = parts.number(1, 4);
    tests::Op made{.name = "transposed_convolution",
                   .attributes = {{"stride", std::vector<std::int64_t>{1, 2}}},
                   .weights_shape = {2, 3, map.channels, filters},
                   .weights = parts.values(std::uint64_t{6} * map.channels * filters)};
    made.attributes.emplace_back("kernel", std::vector<std::int64_t>{2, 3});
    if (has_bias) made.bias = parts.values(filters);
    return {made, map};
}

}  // namespace

TEST_CASE("A dense layer takes weights that another node computes, by inference", "[compiler][reference]") {
    const std::string text = two_inputs +
                             "outputs %3\n"
                             "%0 float32 1x3 \"x\"\n"
                             "%1 float32 1x6 \"w in\"\n"
                             "%2 float32 3x2 \"w\"\n"
                             "%3 float32 1x2 \"d\"\n"
                             "%2 = reshape(%1) \"w\" {shape [3, 2]}\n"
                             "%3 = dense(%0; %2) \"d\"\n";
    const std::vector<Floats> outputs = tests::run_in_file_order(
        tests::graph_of_text(text), {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 1, 1, 2, 1, 0, 1, -1, 0}}, 2);
    CHECK(outputs.front() == Floats{1 + 3, 2 + 3, 4 * 2 - 6, 4 + 5});
}

TEST_CASE("Weights may be constants beside a computed bias, and computed beside constant data",
          "[compiler][reference]") {
    const std::string bias = two_inputs +
                             "outputs %4\n"
                             "%0 float32 1x2 \"x\"\n"
                             "%1 float32 1x2 \"b in\"\n"
                             "%2 float32 2x2 \"w\" = [1.0, 2.0, 3.0, 4.0]\n"
                             "%3 float32 2 \"b\"\n"
                             "%4 float32 1x2 \"d\"\n"
                             "%3 = reshape(%1) \"b\" {shape [2]}\n"
                             "%4 = dense(%0; %2, %3) \"d\"\n";
    CHECK(tests::run_in_file_order(tests::graph_of_text(bias), {{1, 0, 0, 1}, {10, 20, 30, 40}}, 2).front() ==
          Floats{11, 22, 33, 44});
    // %0 is data of one layer and weights of the other.
    const std::string data = two_inputs +
                             "outputs %3, %4\n"
                             "%0 float32 2x1 \"w\"\n"
                             "%1 float32 1x1 \"x\"\n"
                             "%2 float32 1x2 \"c\" = [5.0, 7.0]\n"
                             "%3 float32 1x1 \"d\"\n"
                             "%4 float32 1x2 \"e\"\n"
                             "%3 = dense(%2; %0) \"d\"\n"
                             "%4 = dense(%1, %2) \"e\"\n";
    const std::vector<Floats> outputs =
        tests::run_in_file_order(tests::graph_of_text(data), {{1, 2, 3, 4}, {1, 2}}, 2);
    CHECK(outputs[0] == Floats{5 + 14, 15 + 28});
    CHECK(outputs[1] == Floats{5, 7, 10, 14});
}

TEST_CASE("Computed weights give what constants of the same values give", "[compiler][reference]") {
    constexpr std::uint32_t batch = 3;
    constexpr std::uint32_t kinds = 4;
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const Layer layer = drawn_layer(parts, seed % kinds);
        const ir::Graph constant = tests::one_node(layer.op, {layer.input});
        // The constants become inputs of the network, which have the same values for all inferences.
        ir::Graph computed = constant;
        ir::Node& node = computed.nodes.front();
        node.stated_data = 1;
        const Floats images = parts.values(batch * layer.input.elements());
        std::vector<Floats> inputs{images};
        for (std::size_t i = 1; i < node.inputs.size(); ++i) {
            ir::Value& value = computed.values[node.inputs[i]];
            const std::span<const float> values = value.constant->values<float>();
            Floats repeated;
            for (std::uint32_t n = 0; n < batch; ++n)
                repeated.insert(repeated.end(), values.begin(), values.end());
            inputs.push_back(std::move(repeated));
            value.constant.reset();
            computed.inputs.push_back(node.inputs[i]);
        }
        CHECK(ir::find_fault(computed).value_or("none") == "none");
        CHECK(tests::graph_of_text(ir::to_text(computed)) == computed);
        CHECK(ir::macs(computed) == ir::macs(constant));
        const Floats expected = reference::execute(constant, images, batch);
        const Floats outputs = tests::run_in_file_order(computed, inputs, batch).front();
        CHECK(tests::largest_difference(outputs, expected) < 1e-5);
    }
}

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "compiler/frontend/door/read_network.h"
#include "compiler/frontend/keras/build_graph.h"
#include "compiler/ir/encoding.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/graphs.h"

using namespace systole;
using nlohmann::json;

namespace {

class Weights final : public frontend::WeightSource {
public:
    std::vector<float> read(const frontend::KerasLayer& /*layer*/,
                            const frontend::WantedWeight& wanted) const override {
        const std::vector<std::uint64_t>& shape = wanted.shape;
        return std::vector<float>(shape.size() == 1 ? shape[0] : shape[0] * shape[1], 0.5F);
    }
};

ir::Graph from_keras(const std::string& function) {
    const json layers{
        {{"class_name", "InputLayer"}, {"config", {{"name", "in"}, {"batch_shape", {nullptr, 4}}}}},
        {{"class_name", "Dense"}, {"config", {{"name", "d"}, {"units", 3}, {"activation", function}}}}};
    const json model{{"class_name", "Sequential"}, {"config", {{"name", "s"}, {"layers", layers}}}};
    return frontend::build_keras_graph(model.dump(), Weights(), operators::registry());
}

ir::Graph from_json(const json& layer) {
    const json network{{"schema", "sim.graph/1"},        {"name", "net"},
                       {"weights", {{"seed", 1}}},       {"input", {{"shape", {4}}}},
                       {"layers", json::array({layer})}, {"output", "l"}};
    return frontend::build_json_graph(network.dump(), frontend::WeightValues::Read);
}

}  // namespace

TEST_CASE("Hard swish is 0 up to -3, x from 3 on, and a parabola between", "[compiler][operators]") {
    const std::vector<float> points{-4.0F, -3.0F, -1.5F, 0.0F, 1.0F, 3.0F, 5.0F};
    const std::vector<float> values = tests::evaluate(tests::op("hard_swish"), {1, 1, 7}, points, 1);
    const std::vector<float> expected{0.0F, 0.0F, -0.375F, 0.0F, 2.0F / 3.0F, 3.0F, 5.0F};
    CHECK(tests::largest_difference(values, expected) < 1e-6);
}

TEST_CASE("Keras and graph files name hard swish", "[compiler][operators]") {
    for (const char* const name : {"hard_swish", "hard_silu"}) {
        const ir::Graph graph = from_keras(name);
        REQUIRE(graph.nodes.size() == 2);
        CHECK(graph.nodes[1].is("hard_swish"));
    }
    CHECK(from_json({{"name", "l"}, {"op", "hard_swish"}, {"inputs", {"input"}}}).nodes[0].is("hard_swish"));
    const ir::Graph fused = from_json(
        {{"name", "l"}, {"op", "dense"}, {"inputs", {"input"}}, {"units", 3}, {"activation", "hard_swish"}});
    REQUIRE(fused.nodes.size() == 2);
    CHECK(fused.nodes[1].is("hard_swish"));
}

TEST_CASE("Quantized hard swish is a table behind the sums, a few steps from float",
          "[compiler][operators]") {
    tests::GraphParts parts(5);
    tests::Graph graph({1, 1, 20});
    graph.append("dense", parts.dense({1, 1, 20}, 10, true), {0});
    graph.append("swish", tests::op("hard_swish"), {1});
    constexpr std::uint32_t images = 16;
    const std::vector<float> inputs = parts.values(20 * images, 0.0F);
    const ir::Graph integers = passes::prepare(
        graph, {.inputs = inputs, .count = images, .encoding = passes::InputEncoding{1.0 / 255, 0}});
    CHECK(tpu_v1::lower(integers).layers.size() == 1);
    std::vector<std::uint8_t> stored;
    for (const float value : inputs) stored.push_back(static_cast<std::uint8_t>(std::lround(value * 255)));
    const std::vector<std::uint8_t> bytes = reference::execute(integers, stored, images);
    const std::vector<float> expected = reference::execute(graph, inputs, images);
    const ir::Encoding output = ir::encoding_of(integers.output());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        CHECK(std::abs(output.real(bytes[i]) - double{expected[i]}) < 6 * output.scale);
    }
}

#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

using namespace systole;
using reference::TensorBytes;

namespace {

const ir::Operator& op(std::string_view name) {
    return operators::registry().at(name);
}

/// A graph of one node on one input.
ir::Graph graph_of(std::string_view name, std::vector<ir::NamedAttribute> attributes, const ir::Value& input,
                   std::vector<ir::ResultType> types = {}) {
    ir::Graph graph;
    graph.name = "made";
    graph.values.push_back(input);
    graph.inputs = {0};
    graph.outputs = {
        graph.append("node", op(name), std::move(attributes), {0}, DataType::Uint8, std::move(types))};
    REQUIRE(ir::find_fault(graph) == std::nullopt);
    return graph;
}

template <typename Number>
TensorBytes bytes(const std::vector<Number>& numbers) {
    TensorBytes stored(numbers.size() * sizeof(Number));
    std::memcpy(stored.data(), numbers.data(), stored.size());
    return stored;
}

TensorBytes run(const ir::Graph& graph, const TensorBytes& input, std::uint32_t batch = 1) {
    const std::span<const std::uint8_t> view = input;
    return reference::run(graph, {&view, 1}, batch).front();
}

ir::ResultType int8_scaled(double scale, std::int32_t zero_point) {
    return {DataType::Int8, ir::Quantization{{scale}, {zero_point}, {}}};
}

}  // namespace

TEST_CASE("A transposition moves whole elements, image by image", "[compiler][operators]") {
    const auto permutation = std::vector<std::int64_t>{0, 2, 1};
    const ir::Graph graph = graph_of("transpose", {{"permutation", permutation}},
                                     {.name = "x", .shape = {1, 2, 3}, .type = DataType::Int16});
    CHECK(graph.output().shape == ir::Shape{1, 3, 2});
    CHECK(graph.output().type == DataType::Int16);
    const std::vector<std::int16_t> images{1, 2, 3, 4, 5, 600, 7, 8, 9, 10, 11, -12};
    CHECK(run(graph, bytes(images), 2) == bytes<std::int16_t>({1, 4, 2, 5, 3, 600, 7, 10, 8, 11, 9, -12}));
}

TEST_CASE("A transposition needs each axis once", "[compiler][operators]") {
    ir::Graph graph;
    graph.add_input("x", {1, 2, 3});
    for (const auto& axes : {std::vector<std::int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, 2, 3}}) {
        CHECK_THROWS_AS(graph.append("t", op("transpose"), {{"permutation", axes}}, {0}), ModelError);
    }
}

TEST_CASE("Quantization rounds halves away from zero, or to even", "[compiler][operators]") {
    const ir::Value input{.name = "x", .shape = {1, 6}};
    const std::vector<float> reals{0.25F, 0.75F, -0.25F, 1000.0F, -1000.0F, 0.0F};
    const ir::Graph away = graph_of("quantize", {}, input, {int8_scaled(0.5, 3)});
    CHECK(run(away, bytes(reals)) == bytes<std::int8_t>({4, 5, 2, 127, -128, 3}));
    const ir::Graph even =
        graph_of("quantize", {{"half_to_even", std::int64_t{1}}}, input, {int8_scaled(0.5, 3)});
    CHECK(run(even, bytes(reals)) == bytes<std::int8_t>({3, 5, 3, 127, -128, 3}));
}

TEST_CASE("Dequantization has one scale, or one for each index of an axis", "[compiler][operators]") {
    ir::Value input{.name = "x", .shape = {2, 2}, .type = DataType::Uint8};
    input.quantization = ir::Quantization{{0.5}, {2}, {}};
    CHECK(run(graph_of("dequantize", {}, input), {0, 2, 4, 255}) ==
          bytes<float>({-1.0F, 0.0F, 1.0F, 126.5F}));
    input.quantization = ir::Quantization{{0.5, 2.0}, {0, 1}, 0};
    CHECK(run(graph_of("dequantize", {}, input), {1, 2, 3, 4}) == bytes<float>({0.5F, 1.0F, 4.0F, 6.0F}));
}

TEST_CASE("A node on known constants becomes a constant", "[compiler][operators]") {
    ir::Graph graph;
    graph.name = "made";
    const auto permutation = std::vector<std::int64_t>{1, 0};
    const ir::ValueId constant =
        graph.add_constant("c", {2, 2}, DataType::Int32, std::vector<std::int32_t>{1, 2, 3, 4});
    const ir::ValueId turned = graph.append("t", op("transpose"), {{"permutation", permutation}}, {constant});
    graph.fold_last_node();
    CHECK(graph.nodes.empty());
    REQUIRE(graph.values[turned].constant.has_value());
    const auto numbers = graph.values[turned].constant->values<std::int32_t>();
    CHECK(std::vector<std::int32_t>(numbers.begin(), numbers.end()) == std::vector{1, 3, 2, 4});

    const ir::ValueId unknown = graph.add_constant("u", {2, 2}, DataType::Float32, ir::Constant());
    graph.append("t", op("transpose"), {{"permutation", permutation}}, {unknown});
    graph.fold_last_node();
    CHECK(graph.nodes.size() == 1);
}

TEST_CASE("The order of axes in the file is part of a graph's text", "[compiler][operators]") {
    ir::Value input{.name = "x", .shape = {1, 4, 5, 3}};
    input.file_axes = {0, 2, 3, 1};
    const ir::Graph graph = graph_of("relu", {}, input);
    const std::string text = ir::to_text(graph);
    CHECK_THAT(text, Catch::Contains("\"x\" axes [0, 2, 3, 1]"));
    CHECK(ir::parse_graph(text, "text", operators::registry()) == graph);
    ir::Graph broken = graph;
    broken.values[0].file_axes = {0, 1, 1, 2};
    CHECK(ir::find_fault(broken) == "value %0 \"x\": its axes in the file must be each of its axes once");
}

TEST_CASE("A quotient of bytes far below the output's quantum is 0", "[compiler][operators]") {
    const auto byte = [](std::string name, double scale, std::int32_t zero_point) {
        return ir::Value{.name = std::move(name),
                         .shape = {1, 3},
                         .type = DataType::Uint8,
                         .quantization = ir::Quantization{{scale}, {zero_point}, {}}};
    };
    const ir::Value quotient = byte("y", 0.01918514, 97);
    ir::Graph graph;
    graph.values = {byte("a", 0.00186994, 97), byte("b", 0.00478969, 77)};
    graph.inputs = {0, 1};
    graph.outputs = {graph.append("node", op("quantized_divide"), {}, {0, 1}, DataType::Uint8,
                                  {{quotient.type, quotient.quantization}})};
    // By quanta of the output: -1 / 77 is -0.26, for which the rule asks for a shift by 32 bits; -2 / 77 is
    // -0.53.
    const TensorBytes a{96, 95, 200};
    const TensorBytes b{154, 154, 154};
    const std::vector<std::span<const std::uint8_t>> inputs{a, b};
    CHECK(reference::run(graph, inputs, 1).front() == TensorBytes{97, 96, 124});
}

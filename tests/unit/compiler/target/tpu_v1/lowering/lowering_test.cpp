// From quantized graphs to work of the chip.
#include "compiler/target/tpu_v1/lowering/lowering.h"

#include <catch2/catch.hpp>

#include "base/conversion.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/host_segments.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "tests/support/file_nodes.h"
#include "tests/support/integer_graphs.h"

using namespace systole;
using ir::Encoding;
using tests::IntegerGraph;
using tpu_v1::lower;

namespace {

std::vector<std::uint8_t> some_table() {
    std::vector<std::uint8_t> table(256);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(3 * i);
    return table;
}

const tpu_v1::MatrixProduct& product(const tpu_v1::Network& network, std::size_t layer) {
    return std::get<tpu_v1::MatrixProduct>(network.layers.at(layer).work);
}

}  // namespace

TEST_CASE("Multipliers follow from the scales, and the bias corrects for zero points", "[compiler][tpu_v1]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 3}, {0.5, 10});
    made.dense({input}, 2, {.values = {1, -2, 3, 4, -5, 6}, .scales = {0.25, 0.0625}, .bias = {7, 9}},
               {2.0, 100, DataType::Int8}, {{"clamp", std::vector<std::int64_t>{-4, 90}}});
    const tpu_v1::Network network = lower(made.graph());
    REQUIRE(network.layers.size() == 1);
    const tpu_v1::MatrixProduct& dense = product(network, 0);
    CHECK_FALSE(dense.window.has_value());
    const tpu_v1::Requantization& rules = dense.requantization;
    // 10 * (1 + 3 - 5) and 10 * (-2 + 4 + 6) less.
    CHECK(rules.bias == std::vector<std::int32_t>{7 + 10, 9 - 80});
    // 2^-4 and 2^-6.
    CHECK(rules.multiplier == std::vector<std::int32_t>{1 << 30, 1 << 30});
    CHECK(rules.shift == std::vector<std::int8_t>{-3, -5});
    CHECK(rules.zero_point == 100);
    CHECK(rules.minimum == -4);
    CHECK(rules.maximum == 90);
    CHECK_FALSE(rules.table.has_value());
    CHECK(network.layers[0].macs == 6);
    CHECK(network.tensors[network.outputs.front()] ==
          tpu_v1::Tensor{
              .name = "layer0", .shape = {1, 1, 2}, .scale = 2.0, .zero_point = 100, .type = DataType::Int8});
}

TEST_CASE("A lookup is fused with matrix work if it is the only reader", "[compiler][tpu_v1]") {
    const auto dense_with = [](const auto& append) {
        IntegerGraph made;
        const ir::ValueId sums = made.dense({made.input({1, 1, 2})}, 2, {.values = {1, 2, 3, 4}}, {1.0, 3});
        append(made, sums);
        return lower(made.graph());
    };
    const tpu_v1::Network together = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        made.lookup(sums, some_table(), {0.5, 9});
    });
    REQUIRE(together.layers.size() == 1);
    CHECK(together.layers[0].name == "layer0");
    CHECK(std::get<tpu_v1::ByteTable>(product(together, 0).requantization.table.value())[2] == 6);
    CHECK(product(together, 0).requantization.zero_point == 3);
    CHECK(together.tensors.size() == 2);
    CHECK(together.tensors[1].zero_point == 9);

    const auto is_lookup = [](const tpu_v1::Layer& layer) {
        const auto* const work = std::get_if<tpu_v1::Elementwise>(&layer.work);
        return work != nullptr && work->operation == isa::VectorOperation::Lookup;
    };
    // Another reads the result, too.
    const tpu_v1::Network read_twice = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        const ir::ValueId table = made.lookup(sums, some_table(), {1.0, 3});
        made.append("add", {sums, table}, {1.0, 3});
    });
    REQUIRE(read_twice.layers.size() == 3);
    CHECK(is_lookup(read_twice.layers[1]));
    // It is an output of the network.
    const tpu_v1::Network sent = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        made.lookup(sums, some_table(), {1.0, 3});
        made.graph().outputs = {sums};
    });
    REQUIRE(sent.layers.size() == 2);
    CHECK(is_lookup(sent.layers[1]));
    // Only one table fits behind the sums, and none behind vector work.
    const tpu_v1::Network two = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        const ir::ValueId first = made.lookup(sums, some_table(), {1.0, 3});
        made.lookup(made.append("add", {first, first}, {1.0, 3}), some_table(), {1.0, 3});
    });
    REQUIRE(two.layers.size() == 3);
    CHECK(is_lookup(two.layers[2]));
}

TEST_CASE("Reshapes and slices move nothing, borders are pooling", "[compiler][tpu_v1]") {
    IntegerGraph made;
    const ir::ValueId image = made.input({2, 2, 2}, {1.0, 5});
    const ir::ValueId vector = made.reshape(image, {1, 1, 8});
    const ir::ValueId part = made.slice(vector, 4, 4);
    const ir::ValueId border = made.append("zero_padding", {made.reshape(part, {2, 2, 1})}, {1.0, 5},
                                           {{"padding", std::vector<std::int64_t>{1, 0, 2, 0}}});
    made.reshape(border, {1, 1, 10});
    const tpu_v1::Network network = lower(made.graph());
    REQUIRE(network.layers.size() == 4);
    CHECK(std::get<tpu_v1::Slice>(network.layers[0].work).first_element == 0);
    CHECK(std::get<tpu_v1::Slice>(network.layers[1].work).first_element == 4);
    const auto& pooling = std::get<tpu_v1::Pooling>(network.layers[3].work);
    CHECK(pooling.count_padding);
    CHECK(pooling.window == ir::Window{.pad_top = 1, .pad_bottom = 2});
    // The last reshape is that of the host.
    CHECK(network.outputs.front() == network.layers[3].output);
}

namespace {

std::vector<std::string> names_of(const tpu_v1::Network& network) {
    std::vector<std::string> names;
    for (const tpu_v1::Layer& layer : network.layers) names.push_back(layer.name);
    return names;
}

const ir::Encoding shares{1.0 / 256, 0};

/// The only line that refuses a graph; "none" if it is lowered.
std::string refusal_of(const ir::Graph& graph) {
    try {
        lower(graph);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

ir::ValueId float_softmax(IntegerGraph& made, ir::ValueId from) {
    const ir::ValueId id = made.append("softmax", {from}, {});
    made.graph().values[id].type = DataType::Float32;
    made.graph().values[id].quantization.reset();
    return id;
}

}  // namespace

TEST_CASE("Work on floats is the host's, at the end or in a segment", "[compiler][tpu_v1]") {
    IntegerGraph made;
    const ir::ValueId sums = made.dense({made.input({1, 1, 1})}, 1, {.values = {1}}, {});
    const ir::ValueId classes = float_softmax(made, sums);
    CHECK(operators::program_output(made.graph()) == sums);
    const tpu_v1::Network at_end = lower(made.graph());
    CHECK(at_end.host_operations.front().layer == "layer1");
    CHECK(names_of(at_end) == std::vector<std::string>{"layer0"});

    // The chip's program cannot send the numbers of a sigmoid, so both are a segment.
    made.append("sigmoid", {classes}, {});
    const tpu_v1::Network behind = lower(made.graph());
    CHECK(behind.host_operations.empty());
    REQUIRE(names_of(behind) == std::vector<std::string>{"layer0", "layer1"});
    CHECK(std::get<tpu_v1::HostSegment>(behind.layers[1].work).layers ==
          std::vector<std::string>{"layer1", "layer2"});
    CHECK(behind.outputs == std::vector<tpu_v1::TensorId>{behind.layers[1].output});

    // Nobody reads the sigmoid.
    made.graph().outputs = {classes};
    const tpu_v1::Network unread = lower(made.graph());
    REQUIRE(names_of(unread) == std::vector<std::string>{"layer0", "layer1"});
    CHECK(unread.outputs == std::vector<tpu_v1::TensorId>{unread.layers[1].outputs.front()});
}

TEST_CASE("The host adds constants", "[compiler][tpu_v1]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 2});
    const ir::ValueId sum = made.append("add", {input, input}, {});
    ir::Graph& graph = made.graph();
    const ir::ValueId numbers =
        graph.add_constant("numbers", {1, 2}, DataType::Uint8, std::vector<std::uint8_t>{1, 2});
    made.store(numbers, {});
    graph.nodes[0].inputs[1] = numbers;
    const tpu_v1::Network alone = lower(graph);
    REQUIRE(alone.layers.size() == 1);
    CHECK(tpu_v1::runs_on_host(alone.layers[0]));
    made.append("max_pool", {sum}, {});
    const tpu_v1::Network network = lower(graph);
    REQUIRE(names_of(network) == std::vector<std::string>{"layer0", "layer1"});
    CHECK(tpu_v1::runs_on_host(network.layers[0]));
    CHECK_FALSE(tpu_v1::runs_on_host(network.layers[1]));

    graph.outputs = {numbers};
    CHECK(refusal_of(graph) ==
          "made: layer \"numbers\": it is a constant; the chip takes constants as weights alone");
}

TEST_CASE("Networks that neither chip nor host can compute are refused in one line", "[compiler][tpu_v1]") {
    IntegerGraph twice;
    const ir::ValueId pooled = twice.append("max_pool", {twice.input({2, 2, 1})}, {});
    twice.graph().outputs = {pooled, pooled};
    CHECK(refusal_of(twice.graph()) ==
          "made: output \"layer0\" has the elements of an output before it; give one of them");

    IntegerGraph unknown;
    unknown.dense({unknown.input({1, 1, 1})}, 1, {.values = {1}}, {});
    for (ir::Value& value : unknown.graph().values) {
        if (value.constant) value.constant = ir::Constant();
    }
    CHECK_THAT(refusal_of(unknown.graph()),
               Catch::Contains("has no values; the graph must be one without weights, or have all"));

    ir::Graph on_floats;
    on_floats.name = "floats";
    on_floats.outputs = {on_floats.add_input("input", {1, 2})};
    CHECK(refusal_of(on_floats) == "floats: its input must be of integers that have a scale");
}

TEST_CASE("A softmax between work of the chip is a segment of the host", "[compiler][tpu_v1]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 4}, {0.5, 3});
    const ir::ValueId weights = made.append("softmax", {input}, shares);
    made.append("multiply", {input, weights}, {0.25, 1});
    const tpu_v1::Network network = lower(made.graph());
    REQUIRE(names_of(network) == std::vector<std::string>{"layer0", "layer1"});
    const tpu_v1::Layer& layer = network.layers[0];
    const auto& segment = std::get<tpu_v1::HostSegment>(layer.work);
    CHECK(layer.inputs == network.inputs);
    CHECK(layer.outputs == std::vector<tpu_v1::TensorId>{layer.output});
    CHECK(network.layers[1].inputs == std::vector<tpu_v1::TensorId>{network.inputs[0], layer.output});
    CHECK(network.tensors[layer.output].scale == 1.0 / 256);
    CHECK(segment.layers == std::vector<std::string>{"layer0"});
    // 4 elements: 5 operations each, 2 to make real numbers of the input and 4 to store the result.
    CHECK(segment.operations == 4 * (5 + 2 + 4));
    CHECK(segment.bytes == 8);
    CHECK(segment.constant_bytes == 0);
    CHECK(network.host_operations.empty());
    const ir::Graph graph = ir::parse_graph(*segment.graph, "segment", operators::registry());
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].is("softmax"));
    CHECK(ir::encoding_of(graph.output()) == shares);
}

TEST_CASE("A segment of the host comes as soon as its operands are there", "[compiler][tpu_v1]") {
    // softmax -> softmax -> relu (chip) -> softmax, and beside it a softmax that nothing connects.
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 4}, {0.5, 3});
    const ir::ValueId first = made.append("softmax", {input}, shares);
    const ir::ValueId second = made.append("softmax", {first}, shares);
    const ir::ValueId chip = made.append("add", {second, first}, shares);
    const ir::ValueId third = made.append("softmax", {chip}, shares);
    const ir::ValueId beside = made.append("softmax", {input}, shares);
    made.append("add", {third, beside}, shares);
    CHECK(tpu_v1::nodes_on_chip(made.graph()) == std::vector<bool>{false, false, true, false, false, true});
    const tpu_v1::Network network = lower(made.graph());
    CHECK(names_of(network) == std::vector<std::string>{"layer0", "layer4", "layer2", "layer3", "layer5"});
    CHECK(network.layers[0].outputs.size() == 2);
    CHECK(std::get<tpu_v1::HostSegment>(network.layers[0].work).layers ==
          std::vector<std::string>{"layer0", "layer1"});
}

TEST_CASE("Results of the host may be outputs of the network, and a network may have several ends",
          "[compiler][tpu_v1]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 4}, {0.5, 3});
    const ir::ValueId sum = made.append("add", {input, input}, {0.5, 3});
    const ir::ValueId result = made.append("softmax", {sum}, shares);
    made.graph().outputs = {result, sum};
    const tpu_v1::Network network = lower(made.graph());
    REQUIRE(network.layers.size() == 2);
    CHECK(network.outputs ==
          std::vector<tpu_v1::TensorId>{network.layers[1].output, network.layers[0].output});
    CHECK(network.host_operations.empty());
    CHECK(tpu_v1::runs_on_host(network.layers[1]));
}

TEST_CASE("Inputs of the chip and of the host keep how real numbers become their integers",
          "[compiler][tpu_v1]") {
    const std::string text = R"(graph "g"
inputs %0, %1
outputs %6
%0 int8 1x2 "on chip" scale 0.5 zero 3 conversion half_away
%1 int8 1x2 "on host" scale 0.5 zero 3 conversion half_to_even
%2 int8 1x2 "sum" scale 0.5 zero 3
%3 float32 1x2 "real"
%4 float32 1x2 "other"
%5 float32 1x2 "both"
%6 int8 1x2 "stored" scale 0.5 zero 3
%2 = add(%0, %0) "a"
%3 = dequantize(%1) "d"
%4 = dequantize(%2) "e"
%5 = add(%3, %4) "f"
%6 = quantize(%5) "q"
)";
    const tpu_v1::Network network = lower(ir::parse_graph(text, "g", operators::registry()));
    REQUIRE(network.inputs.size() == 2);
    CHECK(network.tensors[network.inputs[0]].conversion == Conversion::HalfAway);
    CHECK(network.tensors[network.inputs[1]].conversion == Conversion::HalfToEven);
}

TEST_CASE("The chip concatenates the channels of maps of bytes, and nothing else", "[compiler][tpu_v1]") {
    const auto runs_on_chip = [](const ir::Shape& shape, std::int64_t axis, const ir::ResultType& type) {
        const tests::nodes::Tensor a =
            tests::nodes::quantized(shape, 0.5, 3, std::vector<std::int8_t>(shape.elements(), 1));
        const ir::Graph graph =
            tests::nodes::read_node(tests::nodes::tflite("CONCATENATION", {{"axis", axis}}, {type}), {a, a});
        REQUIRE(graph.nodes.size() == 1);
        const bool runs = tpu_v1::is_concatenated_on_chip({graph, graph.nodes[0]}) &&
                          !tpu_v1::concatenates_positions({graph, graph.nodes[0]});
        CHECK(tpu_v1::nodes_on_chip(graph) == std::vector<bool>{runs});
        return runs;
    };
    const ir::ResultType same = tests::nodes::int8_type(0.5, 3);
    CHECK(runs_on_chip({1, 2, 2, 3}, 3, same));
    CHECK(runs_on_chip({1, 2, 2, 3}, -1, same));
    CHECK(runs_on_chip({1, 5}, 1, same));
    CHECK_FALSE(runs_on_chip({1, 2, 2, 3}, 1, same));
    CHECK_FALSE(runs_on_chip({1, 2, 2, 3}, 2, same));
    CHECK_FALSE(runs_on_chip({1, 2, 3}, 2, same));
    CHECK_FALSE(runs_on_chip({2, 2, 2, 3}, 3, same));
}

TEST_CASE("The chip computes integers in images and vectors, by the operators that it has",
          "[compiler][tpu_v1]") {
    const std::string text = R"(graph "g"
inputs %0, %1
outputs %6
%0 int8 1x4x2x3 "image" scale 0.5 zero 3
%1 int8 2x4x2 "two sequences" scale 0.5 zero 3
%2 int8 1x4x2x3 "sum" scale 0.5 zero 3
%3 int8 2x4x2 "of no image" scale 0.5 zero 3
%4 float32 1x4x2x3 "real"
%5 float32 1x4x2x3 "of reals"
%6 int8 1x4x2x3 "shares" scale 0.5 zero 3
%2 = add(%0, %0) "a"
%3 = add(%1, %1) "b"
%4 = dequantize(%2) "c"
%5 = add(%4, %4) "d"
%6 = softmax(%2) "e"
)";
    CHECK(tpu_v1::nodes_on_chip(ir::parse_graph(text, "g", operators::registry())) ==
          std::vector<bool>{true, false, false, false, false});
}

TEST_CASE("The chip pools bytes, and adds what has one shape", "[compiler][tpu_v1]") {
    for (const DataType type : {DataType::Int8, DataType::Int16}) {
        for (const std::string op : {"max_pool", "average_pool", "zero_padding"}) {
            const ir::Encoding encoding{1.0, 0, type};
            IntegerGraph made;
            made.append(op, {made.input({2, 2, 1}, encoding)}, encoding);
            CHECK(tpu_v1::nodes_on_chip(made.graph()) == std::vector<bool>{type == DataType::Int8});
        }
    }
    for (const std::string op : {"add", "multiply"}) {
        IntegerGraph made;
        const ir::ValueId image = made.input({2, 2, 3}, {0.5, 3});
        const ir::ValueId same = made.append(op, {image, image}, {0.5, 3});
        made.append(
            op,
            {same, made.append("max_pool", {image}, {0.5, 3}, {{"kernel", std::vector<std::int64_t>{2, 2}}})},
            {0.5, 3});
        CHECK(tpu_v1::nodes_on_chip(made.graph()) == std::vector<bool>{true, true, false});
    }
}

// From quantized graphs to work of the chip.
#include "compiler/operators/lowering.h"

#include <catch2/catch.hpp>

#include "compiler/ir/model_error.h"
#include "tests/support/integer_graphs.h"

using namespace systole;
using operators::Encoding;
using operators::lower;
using tests::IntegerGraph;

namespace {

std::vector<std::uint8_t> some_table() {
    std::vector<std::uint8_t> table(256);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(3 * i);
    return table;
}

const mapping::MatrixProduct& product(const mapping::Network& network, std::size_t layer) {
    return std::get<mapping::MatrixProduct>(network.layers.at(layer).work);
}

}  // namespace

TEST_CASE("Multipliers follow from the scales, and the bias corrects for zero points",
          "[compiler][operators]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 3}, {0.5, 10});
    made.dense({input}, 2, {.values = {1, -2, 3, 4, -5, 6}, .scales = {0.25, 0.0625}, .bias = {7, 9}},
               {2.0, 100, DataType::Int8}, {{"clamp", std::vector<std::int64_t>{-4, 90}}});
    const mapping::Network network = lower(made.graph());
    REQUIRE(network.layers.size() == 1);
    const mapping::MatrixProduct& dense = product(network, 0);
    CHECK_FALSE(dense.window.has_value());
    const mapping::Requantization& rules = dense.requantization;
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
    CHECK(network.tensors[network.output] ==
          mapping::Tensor{
              .name = "layer0", .shape = {1, 1, 2}, .scale = 2.0, .zero_point = 100, .type = DataType::Int8});
}

TEST_CASE("A lookup is fused with matrix work if it is the only reader", "[compiler][operators]") {
    const auto dense_with = [](const auto& append) {
        IntegerGraph made;
        const ir::ValueId sums = made.dense({made.input({1, 1, 2})}, 2, {.values = {1, 2, 3, 4}}, {1.0, 3});
        append(made, sums);
        return lower(made.graph());
    };
    const mapping::Network together = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        made.lookup(sums, some_table(), {0.5, 9});
    });
    REQUIRE(together.layers.size() == 1);
    CHECK(together.layers[0].name == "layer0");
    CHECK(std::get<mapping::ByteTable>(product(together, 0).requantization.table.value())[2] == 6);
    CHECK(product(together, 0).requantization.zero_point == 3);
    CHECK(together.tensors.size() == 2);
    CHECK(together.tensors[1].zero_point == 9);

    const auto is_lookup = [](const mapping::Layer& layer) {
        const auto* const work = std::get_if<mapping::Elementwise>(&layer.work);
        return work != nullptr && work->operation == isa::VectorOperation::Lookup;
    };
    // Another reads the result, too.
    const mapping::Network read_twice = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        const ir::ValueId table = made.lookup(sums, some_table(), {1.0, 3});
        made.append("add", {sums, table}, {1.0, 3});
    });
    REQUIRE(read_twice.layers.size() == 3);
    CHECK(is_lookup(read_twice.layers[1]));
    // It is an output of the network.
    const mapping::Network sent = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        made.lookup(sums, some_table(), {1.0, 3});
        made.graph().outputs = {sums};
    });
    REQUIRE(sent.layers.size() == 2);
    CHECK(is_lookup(sent.layers[1]));
    // Only one table fits behind the sums, and none behind vector work.
    const mapping::Network two = dense_with([](IntegerGraph& made, ir::ValueId sums) {
        const ir::ValueId first = made.lookup(sums, some_table(), {1.0, 3});
        made.lookup(made.append("add", {first, first}, {1.0, 3}), some_table(), {1.0, 3});
    });
    REQUIRE(two.layers.size() == 3);
    CHECK(is_lookup(two.layers[2]));
}

TEST_CASE("Reshapes and slices move nothing, borders are pooling", "[compiler][operators]") {
    IntegerGraph made;
    const ir::ValueId image = made.input({2, 2, 2}, {1.0, 5});
    const ir::ValueId vector = made.reshape(image, {1, 1, 8});
    const ir::ValueId part = made.slice(vector, 4, 4);
    const ir::ValueId border = made.append("zero_padding", {made.reshape(part, {2, 2, 1})}, {1.0, 5},
                                           {{"padding", std::vector<std::int64_t>{1, 0, 2, 0}}});
    made.reshape(border, {1, 1, 10});
    const mapping::Network network = lower(made.graph());
    REQUIRE(network.layers.size() == 4);
    CHECK(std::get<mapping::Slice>(network.layers[0].work).first_element == 0);
    CHECK(std::get<mapping::Slice>(network.layers[1].work).first_element == 4);
    const auto& pooling = std::get<mapping::Pooling>(network.layers[3].work);
    CHECK(pooling.count_padding);
    CHECK(pooling.window == ir::Window{.pad_top = 1, .pad_bottom = 2});
    // The last reshape is that of the host.
    CHECK(network.output == network.layers[3].output);
}

TEST_CASE("Networks that the chip cannot compute are refused in one line", "[compiler][operators]") {
    const auto error_of = [](const ir::Graph& graph) -> std::string {
        try {
            lower(graph);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    const auto softmax = [](IntegerGraph& made, ir::ValueId from) {
        const ir::ValueId id = made.append("softmax", {from}, {});
        made.graph().values[id].type = DataType::Float32;
        made.graph().values[id].quantization.reset();
        return id;
    };
    IntegerGraph inside;
    const ir::ValueId sums = inside.dense({inside.input({1, 1, 1})}, 1, {.values = {1}}, {});
    const ir::ValueId classes = softmax(inside, sums);
    CHECK(error_of(inside.graph()) == "none");
    CHECK(operators::chip_output(inside.graph()) == sums);
    CHECK(lower(inside.graph()).host_operations.front().layer == "layer1");
    inside.append("sigmoid", {classes}, {});
    CHECK(
        error_of(inside.graph()) ==
        "made: layer \"layer1\": it is a softmax inside the network; only the last layer may be one, as the "
        "host computes it");

    IntegerGraph behind;
    const ir::ValueId first =
        softmax(behind, behind.dense({behind.input({1, 1, 1})}, 1, {.values = {1}}, {}));
    behind.append("sigmoid", {first}, {});
    behind.graph().outputs = {first};
    CHECK(error_of(behind.graph()) ==
          "made: layer \"layer2\": it is a sigmoid on float32, which the chip does not compute");

    IntegerGraph constant;
    const ir::ValueId input = constant.input({1, 1, 2});
    constant.append("add", {input, input}, {});
    ir::Graph& graph = constant.graph();
    const ir::ValueId numbers =
        graph.add_constant("numbers", {1, 2}, DataType::Uint8, std::vector<std::uint8_t>{1, 2});
    constant.store(numbers, {});
    graph.nodes[0].inputs[1] = numbers;
    CHECK(error_of(graph).find("\"numbers\": it is a constant; the chip takes constants as weights alone") !=
          std::string::npos);

    IntegerGraph two;
    two.append("max_pool", {two.input({2, 2, 1})}, {});
    two.input({1, 1, 1});
    CHECK(error_of(two.graph()) ==
          "made: it has 2 inputs and 1 output; a network that is compiled has one of each");

    ir::Graph on_floats;
    on_floats.name = "floats";
    on_floats.outputs = {on_floats.add_input("input", {1, 2})};
    CHECK(error_of(on_floats) == "floats: its input must be of integers that have a scale");
}

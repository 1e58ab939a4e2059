// Float networks as primitives that state every bit.
#include "compiler/passes/compute_in_words.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/source_dir.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Numbers = std::vector<float>;
using Tensors = std::vector<Numbers>;  // by value

const std::set<std::string> primitives{"word_chain", "word_reduce", "word_windows",
                                       "dense",      "convolution", "depthwise_convolution"};

/// The nearest bfloat16, halves to the even one.
float nearest_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000);
}

/// The elements of all values of a graph for a batch; those of constants are empty.
Tensors values_of_run(const ir::Graph& graph, const Tensors& inputs, std::uint32_t batch) {
    Tensors values(graph.values.size());
    const std::vector<std::span<const float>> given(inputs.begin(), inputs.end());
    reference::execute(graph, given, batch, [&](ir::ValueId id, std::span<const float> elements) {
        values[id].insert(values[id].end(), elements.begin(), elements.end());
    });
    return values;
}

/// Computes one node in plain float, with each operand of a product changed.
template <typename Change>
Numbers computed_plainly(const ir::Graph& graph, const ir::Node& node, const Tensors& values,
                         std::uint32_t batch, const Change& change) {
    Tensors operands;
    for (const ir::ValueId id : node.inputs) {
        const auto& constant = graph.values[id].constant;
        operands.push_back(values[id]);
        if (constant && graph.values[id].type == DataType::Float32)
            operands.back().assign(constant->values<float>().begin(), constant->values<float>().end());
    }
    for (std::size_t i = 0; i < operands.size(); ++i) change(i, operands[i]);
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& constant = graph.values[node.inputs[i]].constant;
        const bool is_whole = constant && graph.values[node.inputs[i]].type != DataType::Float32;
        inputs.push_back(is_whole ? static_cast<const void*>(constant->bytes().data()) : operands[i].data());
    }
    Numbers result(batch * graph.values[node.output()].shape.elements());
    void* const output = result.data();
    operators::operator_of(node).compute(
        {.node = {graph, node}, .inputs = inputs, .batch = batch, .outputs = {&output, 1}});
    return result;
}

/// Checks, layer by layer, that a network in words computes what its float network does with the operands of
/// products rounded to bfloat16, but for errors of 1e-5 of what is added. Where a layer rounds the operands
/// of its own products anew at each step, products keep nearly all of a float32 instead.
void check_words(const ir::Graph& graph, const Tensors& inputs, std::uint32_t batch) {
    ir::Graph marked = graph;
    for (ir::ValueId id = 0; id < marked.values.size(); ++id) {
        if (!marked.values[id].constant) marked.values[id].before = id;
    }
    const bool has_steps =
        std::ranges::any_of(graph.nodes, [](const ir::Node& node) { return node.is("sequence_lstm"); });
    const ir::Graph words =
        passes::compute_in_words(marked, {.sum_tile = 128, .precision = has_steps ? "highest" : "default"});
    REQUIRE(ir::find_fault(words).value_or("") == "");
    const Tensors in_words = values_of_run(words, inputs, batch);
    Tensors values(graph.values.size());
    for (ir::ValueId id = 0; id < words.values.size(); ++id) {
        if (words.values[id].before) values[*words.values[id].before] = in_words[id];
    }
    for (const ir::Node& node : graph.nodes) {
        INFO(node.op->name() << " " << node.name);
        const Numbers& result = values[node.output()];
        // An identity has the numbers of its input.
        if (result.empty() && node.is("identity")) {
            values[node.output()] = values[node.inputs.front()];
            continue;
        }
        // A run lists the numbers of float32 alone.
        const auto is_listed = [&](ir::ValueId id) {
            return graph.values[id].constant || graph.values[id].type == DataType::Float32;
        };
        if (!is_listed(node.output()) || !std::ranges::all_of(node.inputs, is_listed)) continue;
        const bool is_product = node.op->has_weights() || node.is("matrix_product");
        const Numbers expected =
            computed_plainly(graph, node, values, batch, [&](std::size_t operand, Numbers& elements) {
                if (!is_product || has_steps || operand > 1) return;
                for (float& x : elements) x = nearest_bfloat16(x);
            });
        const Numbers sizes =
            computed_plainly(graph, node, values, batch, [&](std::size_t, Numbers& elements) {
                if (!is_product) return;
                for (float& x : elements) x = std::abs(x);
            });
        REQUIRE(result.size() == expected.size());
        double worst = 0.0;
        for (std::size_t i = 0; i < result.size(); ++i) {
            if (std::isnan(result[i]) && std::isnan(expected[i])) continue;  // outside of a function's domain
            const double size = is_product ? sizes[i] : std::max(1.0F, std::abs(expected[i]));
            const double error = std::abs(double{result[i]} - expected[i]) / (size + 1e-30);
            worst = error <= worst ? worst : error;
        }
        CHECK(worst < 1e-5);
    }
}

void check_words(const ir::Graph& graph, const Numbers& input, std::uint32_t batch) {
    check_words(graph, Tensors{input}, batch);
}

ir::Graph graph_in_words(const std::string& text) {
    return ir::parse_graph(text, "test", operators::registry());
}

/// Small whole numbers: bfloat16 has them, and sums of their products are exact.
Numbers small_whole_numbers(tests::GraphParts& parts, std::size_t count) {
    Numbers numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(parts.number(0, 8)) - 4.0F);
    return numbers;
}

/// Draws a float network of layers with one or two inputs.
ir::Graph random_float_network(tests::GraphParts& parts) {
    using namespace systole::tests;
    tests::Graph graph({parts.number(2, 9), parts.number(2, 9), parts.number(1, 5)});
    const std::vector<std::string> functions{"relu",       "sigmoid",   "tanh",        "swish",
                                             "gelu",       "gelu_tanh", "elu",         "softplus",
                                             "hard_swish", "mish",      "hard_sigmoid"};
    for (std::uint32_t layers = parts.number(1, 6), layer = 0; layer < layers; ++layer) {
        const auto last = static_cast<tests::NodeId>(graph.size() - 1);
        const ir::FeatureMap map = graph.shape(last);
        const ir::Window window = parts.window(map);
        const std::string name = "n" + std::to_string(layer);
        const bool bias = parts.number(0, 1) == 0;
        switch (parts.number(0, 10)) {
            case 0:
            case 1:
                graph.append(name, parts.convolution(map, window, parts.number(1, 9), bias), {last});
                break;
            case 2:
                graph.append(name, parts.depthwise(map, window, parts.number(1, 2), bias), {last});
                break;
            case 3:
                graph.append(name, tests::pool("max_pool", window), {last});
                break;
            case 4:
                graph.append(name, tests::pool("average_pool", window), {last});
                break;
            case 5:
                graph.append(name, parts.batch_normalization(map.channels), {last});
                break;
            case 6:
                graph.append(name, tests::op("softmax"), {last});
                break;
            case 7:
                graph.append(name, tests::op(parts.number(0, 1) == 0 ? "add" : "multiply"), {last, last});
                break;
            case 8:
                graph.append(name, tests::op("concat"), {last, last});
                break;
            case 9:
                graph.append(name, tests::op("mean_variance_normalization"), {last});
                break;
            default:
                graph.append(name, tests::op(functions[parts.number(0, 10)]), {last});
        }
    }
    const auto last = static_cast<tests::NodeId>(graph.size() - 1);
    if (parts.number(0, 1) == 0)
        graph.append("d", parts.dense(graph.shape(last), parts.number(1, 12), true), {last});
    return graph;
}

}  // namespace

TEST_CASE("Networks in words compute what float networks do with rounded operands", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Graph graph = random_float_network(parts);
        const std::uint32_t batch = parts.number(1, 3);
        check_words(graph, parts.values(batch * graph.input().shape.elements()), batch);
        check_words(passes::simplify(graph), parts.values(batch * graph.input().shape.elements()), batch);
    }
}

TEST_CASE("A network in words has primitives and moves, and stays what it is", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(50); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Graph words = passes::prepare_in_words(
            random_float_network(parts), {.sum_tile = parts.number(1, 300), .precision = "high"});
        for (const ir::Node& node : words.nodes) {
            INFO(node.op->name());
            CHECK((primitives.contains(std::string(node.op->name())) || node.is("reshape") ||
                   node.is("concat")));
        }
        const std::string text = ir::to_text(words);
        CHECK(ir::to_text(passes::compute_in_words(words, {})) == text);
        CHECK(ir::to_text(graph_in_words(text)) == text);
    }
}

TEST_CASE("The number that pads is settled, as constants are", "[compiler][passes]") {
    const auto padding_of = [](const std::string& type, const std::string& value) {
        const ir::Graph graph = tests::graph_of_text(
            "graph \"g\"\ninputs %0\noutputs %1\n%0 " + type + " 1x2 \"x\"\n%1 " + type +
            " 1x3 \"y\"\n%1 = pad(%0) \"y\" {before [0, 1], after [0, 0], value " + value + "}\n");
        return passes::compute_in_words(graph, {}).nodes.at(0).real("value");
    };
    for (const std::string type : {"float32", "bfloat16"}) {
        CHECK(padding_of(type, "1e-40") == 0.0);
        CHECK(std::signbit(padding_of(type, "-1e-40")));
        CHECK(padding_of(type, "0.5") == 0.5);
    }
    CHECK(padding_of("int32", "-2147483647.0") == -2147483647.0);
}

TEST_CASE("Sum tile and precision are those of the machine", "[compiler][passes]") {
    tests::GraphParts parts(3);
    const ir::Graph graph = tests::one_node(parts.dense({1, 1, 5}, 3, false), {{1, 1, 5}});
    const ir::Graph words = passes::compute_in_words(graph, {.sum_tile = 4, .precision = "highest"});
    const auto dense =
        std::ranges::find_if(words.nodes, [](const ir::Node& node) { return node.is("dense"); });
    REQUIRE(dense != words.nodes.end());
    CHECK(dense->integer("sum_tile") == 4);
    CHECK(dense->text("precision") == "highest");
}

TEST_CASE("Numbers of a block are those that a node states, or those of the machine", "[compiler][passes]") {
    const auto graph = [](const std::string& block) {
        return graph_in_words(
            "graph \"g\"\ninputs %0\noutputs %1\n%0 int32 1x5x7 \"x\"\n%1 int32 1x5 \"y\"\n"
            "%1 = word_reduce(%0) \"y\" {reduction \"sum_int\", axes [2]" +
            block + "}\n");
    };
    const auto block = [&](const std::string& stated) {
        const ir::Graph words = passes::compute_in_words(graph(stated), {.reduction_block = 16});
        CHECK(words.values[words.outputs.front()].type == DataType::Int32);
        CHECK(words.nodes.at(0).text("reduction") == "sum_int");
        return words.nodes.at(0).integer("sum_tile");
    };
    CHECK(block(", sum_tile 0") == 16);
    CHECK(block(", sum_tile 9") == 9);
    CHECK(block("") == 128);  // what a text does not say
}

TEST_CASE("Each function of one number has the words of its definition", "[compiler][passes]") {
    const std::vector<tests::Op> functions{
        {.name = "abs"},
        {.name = "ceil"},
        {.name = "celu", .attributes = {{"alpha", 0.5}}},
        {.name = "cos"},
        {.name = "clip", .attributes = {{"minimum", -1.5}, {"maximum", 2.5}}},
        {.name = "clip", .attributes = {{"maximum", 0.25}}},
        {.name = "elu", .attributes = {{"alpha", 1.5}}},
        {.name = "erf"},
        {.name = "exp"},
        {.name = "floor"},
        {.name = "gelu"},
        {.name = "gelu_tanh"},
        {.name = "hard_sigmoid"},
        {.name = "hard_swish"},
        {.name = "leaky_relu", .attributes = {{"alpha", 0.125}}},
        {.name = "mish"},
        {.name = "negative"},
        {.name = "reciprocal"},
        {.name = "relu"},
        {.name = "relu", .attributes = {{"maximum", 1.0}}},
        {.name = "round"},
        {.name = "selu"},
        {.name = "sigmoid"},
        {.name = "sign"},
        {.name = "sin"},
        {.name = "softplus"},
        {.name = "softsign"},
        {.name = "square"},
        {.name = "swish"},
        {.name = "tanh"},
        {.name = "thresholded_relu", .attributes = {{"alpha", 0.75}}},
    };
    tests::GraphParts parts(7);
    for (const tests::Op& function : functions) {
        INFO(function.name);
        Numbers input = parts.values(400, -6.0F, 6.0F);
        std::copy_n(std::vector<float>{0.0F, -0.0F, 0.5F, 1.5F, -0.5F, 0.75F, 30.0F, -30.0F}.begin(), 8,
                    input.begin());
        if (function.name == "reciprocal") input[0] = input[1] = 1.0F;
        check_words(tests::one_node(function, {{1, 1, 400}}), input, 1);
    }
    for (const char* const name : {"log", "sqrt", "rsqrt"}) {
        INFO(name);
        check_words(tests::one_node({.name = name}, {{1, 1, 400}}), parts.values(400, 0.01F, 9.0F), 1);
    }
}

TEST_CASE("Functions of two numbers, reductions and normalizations become words", "[compiler][passes]") {
    using Integers = std::vector<std::int64_t>;
    const ir::Shape shape{1, 4, 3, 6};
    tests::GraphParts parts(11);
    // The node's inputs: x is the network's input, which has no zeros; others are constants.
    const auto check = [&](const std::string& op, const std::vector<ir::NamedAttribute>& attributes,
                           const std::vector<std::optional<std::pair<ir::Shape, Numbers>>>& inputs) {
        INFO(op);
        ir::Graph graph;
        graph.name = "g";
        const ir::ValueId x = graph.add_input("x", shape);
        std::vector<ir::ValueId> ids;
        for (const auto& input : inputs) {
            ids.push_back(input ? graph.add_constant("c", input->first, DataType::Float32, input->second)
                                : x);
        }
        graph.outputs = {graph.append("n", operators::registry().at(op), attributes, ids)};
        Numbers numbers = parts.values(2 * shape.elements(), 0.5F, 2.0F);
        if (op != "power") {
            for (std::size_t i = 0; i < numbers.size(); i += 3) numbers[i] = -numbers[i];
        }
        check_words(graph, numbers, 2);
    };
    const auto x = std::nullopt;
    const std::pair<ir::Shape, Numbers> by_channel{{6}, {-1.0F, 2.0F, 0.5F, -0.25F, 3.0F, 4.0F}};
    const std::pair<ir::Shape, Numbers> number{{}, {0.75F}};
    for (const char* const op : {"add", "subtract", "multiply", "divide", "maximum", "minimum",
                                 "squared_difference", "floor_divide", "remainder", "floor_modulo"}) {
        check(op, {}, {x, by_channel});
        check(op, {}, {by_channel, x});
        check(op, {}, {x, number});
        check(op, {}, {number, x});
        check(op, {}, {x, x});
    }
    check("prelu", {}, {x, by_channel});
    for (const float exponent : {0.5F, 1.0F, 2.0F, 3.0F, 4.0F, -0.5F, -1.0F, -2.0F}) {
        check("power", {}, {x, std::pair{ir::Shape{1}, Numbers{exponent}}});
    }
    for (const char* const op : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_product"}) {
        check(op, {{"axes", Integers{1, 2}}}, {x});
        check(op, {{"axes", Integers{3}}, {"keep", std::int64_t{1}}}, {x});
        check(op, {{"axes", Integers{1, 3}}}, {x});
        if (std::string(op) != "reduce_product") check(op, {}, {x});
    }
    for (const std::int64_t axis : {std::int64_t{-1}, std::int64_t{2}}) {
        check("softmax", {{"axis", axis}}, {x});
        check("log_softmax", {{"axis", axis}}, {x});
        check("normalize", {{"axis", axis}}, {x});
        check("normalize", {{"axis", axis}, {"order", std::int64_t{1}}}, {x});
    }
    for (const std::int64_t axis : {1, 2, 3}) {
        for (const std::int64_t exclusive : {0, 1}) {
            for (const std::int64_t reverse : {0, 1}) {
                check("cumulative_sum", {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}},
                      {x});
            }
        }
    }
    check("mean_variance_normalization", {{"axes", Integers{1, 2}}}, {x});
    check("instance_normalization", {}, {x, by_channel, by_channel});
    const std::pair<ir::Shape, Numbers> by_row{{4}, {-1.0F, 2.0F, 0.5F, -0.25F}};
    check("instance_normalization", {{"axis", std::int64_t{1}}}, {x, by_row, by_row});
    check("lp_pool", {{"kernel", Integers{2, 2}}, {"padding", Integers{1, 0, 0, 1}}}, {x});
    check("lp_pool", {{"kernel", Integers{4, 3}}, {"order", std::int64_t{1}}}, {x});
    check("resize", {{"shape", Integers{1, 8, 6, 6}}}, {x});
    for (const char* const mode : {"linear", "cubic"}) {
        for (const char* const coordinates : {"half_pixel", "align_corners", "asymmetric"}) {
            check("resize",
                  {{"shape", Integers{1, 9, 2, 6}},
                   {"mode", std::string(mode)},
                   {"coordinates", std::string(coordinates)}},
                  {x});
        }
    }
    for (const double beta : {1.0, 0.5, 0.75, 0.3}) {
        check("local_response_normalization",
              {{"before", std::int64_t{2}}, {"after", std::int64_t{1}}, {"alpha", 0.5}, {"beta", beta}}, {x});
    }
    check("local_response_normalization",
          {{"before", std::int64_t{9}}, {"after", std::int64_t{8}}, {"axis", std::int64_t{1}}}, {x});
    check("pad", {{"before", Integers{0, 1, 0, 2}}, {"after", Integers{0, 0, 3, 0}}, {"value", 1.5}}, {x});
    check("transpose", {{"permutation", Integers{0, 3, 1, 2}}}, {x});
    check("depth_to_space", {{"block", std::int64_t{1}}}, {x});
}

TEST_CASE("Normalizations of tensors of any rank become words", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        tests::GraphParts parts(seed);
        std::vector<std::uint32_t> extents(parts.number(2, 6), 1);
        for (std::size_t i = 1; i < extents.size(); ++i) extents[i] = parts.number(1, 4);
        const std::uint32_t axis = parts.number(1, static_cast<std::uint32_t>(extents.size()) - 1);
        const std::uint32_t kind = parts.number(0, 3);
        const std::uint32_t groups = parts.number(1, 3);
        if (kind == 0) extents[axis] = groups * parts.number(1, 3);
        const ir::Shape shape(extents);
        ir::Graph graph;
        graph.name = "g";
        std::vector<ir::ValueId> inputs{graph.add_input("x", shape)};
        // Without it, a small deviation would make a large error of a small one.
        std::vector<ir::NamedAttribute> attributes{{"axis", std::int64_t{axis}}, {"epsilon", 0.25}};
        std::string op = kind == 2 ? "layer_normalization" : "rms_normalization";
        std::vector<std::uint32_t> own(extents.begin() + axis, extents.end());
        std::uint32_t parameters = parts.number(0, kind == 2 ? 2 : 1);
        if (kind < 2) {
            op = kind == 0 ? "group_normalization" : "instance_normalization";
            if (kind == 0) attributes.emplace_back("groups", std::int64_t{groups});
            own.resize(1);
            parameters = 2;
        }
        for (std::uint32_t i = 0; i < parameters; ++i) {
            const ir::Shape each(own);
            inputs.push_back(graph.add_constant("c" + std::to_string(i), each, DataType::Float32,
                                                parts.values(each.elements(), -2.0F, 2.0F)));
        }
        INFO("seed " << seed << ", " << op << " of " << to_text(shape) << " along axis " << axis);
        graph.outputs = {graph.append("n", operators::registry().at(op), attributes, inputs)};
        check_words(graph, parts.values(2 * shape.elements(), -2.0F, 2.0F), 2);
    }
}

TEST_CASE("Transposed convolutions become convolutions by phases", "[compiler][passes]") {
    std::set<std::size_t> convolutions;
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        using Integers = std::vector<std::int64_t>;
        const std::uint32_t groups = parts.number(1, 2);
        const std::uint32_t own = parts.number(1, 3);
        const std::uint32_t filters = groups * parts.number(1, 3);
        const ir::FeatureMap map{parts.number(1, 6), parts.number(1, 6), groups * own};
        const auto pair = [&](std::uint32_t most) {
            return Integers{parts.number(1, most), parts.number(1, most)};
        };
        const Integers kernel = pair(5);
        const Integers stride = parts.number(0, 1) == 0 ? Integers{2, 2} : pair(4);
        const Integers dilation = pair(2);
        const auto side = [&] { return static_cast<std::int64_t>(parts.number(0, 6)) - 2; };
        Integers cut{side(), side(), side(), side()};
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const std::int64_t input = axis == 0 ? map.height : map.width;
            const std::int64_t full = (input - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
            if (cut[axis] + cut[axis + 2] >= full) cut[axis] = cut[axis + 2] = 0;
        }
        const auto height = static_cast<std::uint32_t>(kernel[0]);
        const auto width = static_cast<std::uint32_t>(kernel[1]);
        tests::Op op{.name = "transposed_convolution",
                     .attributes = {{"kernel", kernel},
                                    {"stride", stride},
                                    {"dilation", dilation},
                                    {"cut", cut},
                                    {"groups", std::int64_t{groups}}},
                     .weights_shape = {height, width, own, filters},
                     .weights = small_whole_numbers(parts, std::size_t{height} * width * own * filters)};
        if (seed % 2 == 0) op.bias = small_whole_numbers(parts, filters);
        const ir::Graph graph = tests::one_node(op, {map});
        const ir::Graph words = passes::prepare_in_words(graph, {});
        const Numbers input = small_whole_numbers(parts, 2 * map.elements());
        // Both are exact.
        CHECK(reference::execute(words, input, 2) == reference::execute(graph, input, 2));
        convolutions.insert(static_cast<std::size_t>(
            std::ranges::count_if(words.nodes, [](const ir::Node& node) { return node.is("convolution"); })));
    }
    // Phases with one window are one convolution; others are several.
    CHECK(convolutions.contains(1));
    CHECK(convolutions.contains(4));
}

TEST_CASE("The article's network is computed in words", "[compiler][passes]") {
    const ir::Graph graph =
        frontend::read_network(std::filesystem::path(tests::source_dir()) / "models/mnist_cnn/mnist_cnn.h5");
    tests::GraphParts parts(1);
    const Numbers images = parts.values(3 * graph.input().shape.elements(), 0.0F, 1.0F);
    check_words(passes::simplify(graph), images, 3);
}

TEST_CASE("Networks of other people's programs are computed in words, or refused", "[compiler][passes]") {
    const std::filesystem::path cases = std::filesystem::path(tests::source_dir()) / "tests/golden/operators";
    std::set<std::string> refusals;  // without the names of layers and values
    std::size_t computed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        const std::string name = entry.path().filename().string();
        if (name.find("_float32") == std::string::npos) continue;
        for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
            if (file.path().stem() != "model" || file.path().extension() == ".json") continue;
            INFO(name);
            ir::Graph graph;
            try {
                graph = passes::simplify(frontend::read_network(file.path()));
                static_cast<void>(passes::compute_in_words(graph, {}));
            } catch (const ModelError& error) {
                const std::string text = error.what();
                refusals.insert(text.substr(text.rfind("\" is ") == std::string::npos
                                                ? text.rfind(": ") + 2
                                                : text.rfind("\" is ") + 5));
                continue;
            }
            tests::GraphParts parts(static_cast<std::uint32_t>(computed));
            Tensors inputs;
            for (const ir::ValueId id : graph.inputs) {
                inputs.push_back(parts.values(graph.values[id].shape.elements(), 0.1F, 1.0F));
            }
            check_words(graph, inputs, 1);
            ++computed;
        }
    }
    CHECK(computed > 250);
    const std::string floats =
        "; machines with a tensor core compute in bfloat16 and float32, and their networks must be in "
        "float32";
    CHECK(refusals == std::set<std::string>{"uint8" + floats, "int16" + floats, "int8" + floats});
}

TEST_CASE("What machines of floats do not compute is refused by name", "[compiler][passes]") {
    const auto refusal = [](const ir::Graph& graph) -> std::string {
        try {
            passes::prepare_in_words(graph, {});
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(
        refusal(graph_in_words("graph \"g\"\ninputs %0\noutputs %1\n%0 int8 1x3 \"x\"\n%1 int8 1x3 \"r\"\n"
                               "%1 = maximum(%0, %0) \"r\"\n")) ==
        "g: its value \"x\" is int8; machines with a tensor core compute in bfloat16 and float32, and their "
        "networks must be in float32");
    const tests::Op power{.name = "power", .weights_shape = {}, .by_channel = {{1.5F}}};
    CHECK(refusal(tests::one_node(power, {{1, 1, 3}})) ==
          "layer \"node\": its exponent is 1.5; on machines with a tensor core it must be 0.5, 1, 2, 3 or 4, "
          "or one of these with a minus sign");
}

// Operators of indices and bits as primitives that state every bit, for machines without addresses from data.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/compute_in_words.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_nodes.h"
#include "tests/support/graphs.h"
#include "tests/support/index_nodes.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

/// The first result of a node in words. The node itself must have the same bits, of two inferences.
Tensor in_words(const FileNode& node, const std::vector<Tensor>& inputs) {
    const ir::Graph graph = read_node(node, inputs);
    const ir::Graph words = passes::compute_in_words(graph, {.sum_tile = 128, .precision = "default"});
    REQUIRE(ir::find_fault(words).value_or("") == "");
    for (const ir::Node& each : words.nodes) {
        INFO(each.op->name());
        CHECK((each.op->name().starts_with("word_") || each.is("reshape") || each.is("gather") ||
               each.is("concat") || each.is("strided_slice") || each.is("pad") || each.is("identity")));
    }
    std::vector<std::vector<std::uint8_t>> twice;
    for (const Tensor& input : inputs) {
        if (input.is_constant) continue;
        twice.push_back(input.bytes);
        twice.back().insert(twice.back().end(), input.bytes.begin(), input.bytes.end());
    }
    const std::vector<Tensor> results = results_of(words, twice, 2);
    CHECK(results == results_of(graph, twice, 2));
    return results.front();
}

std::vector<std::int32_t> below(tests::GraphParts& parts, std::size_t count, std::uint32_t extent,
                                std::uint32_t behind) {
    std::vector<std::int32_t> numbers(count);
    for (std::int32_t& number : numbers)
        number = static_cast<std::int32_t>(parts.number(0, extent - 1 + behind)) -
                 static_cast<std::int32_t>(behind);
    return numbers;
}

/// Two inputs of a type, and truth values of them.
struct TruthGraph {
    TruthGraph(const ir::Shape& shape, DataType type)
        : a(graph.add_input("a", shape)), b(graph.add_input("b", shape)) {
        graph.name = "made";
        for (const ir::ValueId input : {a, b}) graph.values[input].type = type;
    }
    ir::ValueId append(const std::string& op, const std::vector<ir::ValueId>& inputs, DataType type,
                       std::vector<ir::NamedAttribute> attributes = {}) {
        return graph.append(op + std::to_string(graph.nodes.size()), operators::registry().at(op),
                            std::move(attributes), inputs, type, {{type}});
    }
    ir::ValueId truth(const std::string& op, const std::vector<ir::ValueId>& inputs,
                      std::vector<ir::NamedAttribute> attributes = {}) {
        return append(op, inputs, DataType::Uint8, std::move(attributes));
    }

    ir::Graph graph;
    ir::ValueId a;
    ir::ValueId b;
};

/// Words choose by truth values, and turn them into numbers, as the graph does.
void check_truth(const Tensor& a, const Tensor& b,
                 const std::function<ir::ValueId(TruthGraph& made)>& truth_of) {
    TruthGraph made(a.shape, a.type);
    const ir::ValueId truth = truth_of(made);
    made.graph.outputs = {made.append("where", {truth, made.a, made.b}, a.type),
                          made.append("cast", {truth}, DataType::Float32)};
    REQUIRE(ir::find_fault(made.graph).value_or("") == "");
    const ir::Graph words = passes::compute_in_words(made.graph, {.sum_tile = 128, .precision = "default"});
    REQUIRE(ir::find_fault(words).value_or("") == "");
    CHECK(results_of(words, {a.bytes, b.bytes}, 1) == results_of(made.graph, {a.bytes, b.bytes}, 1));
}

}  // namespace

TEST_CASE("Slices at computed indices are rows, or found by comparison", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(50); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape{parts.number(1, 4), parts.number(1, 6), parts.number(1, 3)};
        const std::uint32_t axis = parts.number(0, 2);
        const ir::Shape rows{1, parts.number(1, 5)};
        Tensor x = reals(shape, parts.values(shape.elements()));
        x.is_constant = parts.number(0, 1) == 0;
        const Tensor indices = integers(rows, below(parts, rows.elements(), shape[axis], shape[axis]));
        in_words(onnx("Gather", {{"axis", axis}}), {x, indices});
        const ir::Shape beside = axis == 0   ? ir::Shape{parts.number(1, 5), shape[1], shape[2]}
                                 : axis == 1 ? ir::Shape{shape[0], parts.number(1, 5), shape[2]}
                                             : ir::Shape{shape[0], shape[1], parts.number(1, 5)};
        const Tensor each = integers(beside, below(parts, beside.elements(), shape[axis], shape[axis]));
        in_words(onnx("GatherElements", {{"axis", axis}}), {x, each});
    }
    // All bits are kept, that of the sign of 0 too, and those of integers.
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Tensor hard = constant(reals({4}, {-0.0F, infinity, -infinity, 1e-30F}));
    in_words(onnx("Gather"), {hard, integers({1, 4}, {3, 2, 1, 0})});
    in_words(onnx("Gather"), {integers({3}, {-7, 1 << 30, 9}), integers({1, 2}, {1, -3})});
}

TEST_CASE("Places at computed indices are found and written in words", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        tests::GraphParts parts(seed);
        const IndexedNode drawn = IndexedNodes(parts).draw();
        INFO("seed " << seed << ": " << drawn.node.name);
        in_words(drawn.node, drawn.inputs);
    }
    // Integers wrap around where they are combined.
    const std::vector<Tensor> wide{integers({1, 3}, {1 << 30, -7, 1 << 20}), integers({1, 4}, {0, 2, 0, 2}),
                                   integers({1, 4}, {1 << 30, 1 << 20, 5, 3})};
    for (const char* const reduction : {"none", "add", "mul", "max", "min"})
        in_words(onnx("ScatterElements", {{"axis", 1}, {"reduction", reduction}}), wide);
    // What no update meets keeps all its bits.
    const Tensor zeros = reals({1, 3}, {-0.0F, 0.0F, -0.0F});
    for (const char* const reduction : {"none", "add", "mul", "max", "min"}) {
        in_words(onnx("ScatterElements", {{"axis", 1}, {"reduction", reduction}}),
                 {zeros, integers({1, 1}, {1}), reals({1, 1}, {2.0F})});
    }
}

TEST_CASE("An index outside of its axis ends a run, in words too, and is named", "[compiler][passes]") {
    const auto message = [](const ir::Graph& graph, const IndexedNode& node) -> std::string {
        std::vector<std::vector<std::uint8_t>> inputs;
        for (const Tensor& input : node.inputs)
            if (!input.is_constant) inputs.push_back(input.bytes);
        try {
            static_cast<void>(results_of(graph, inputs, 1));
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        tests::GraphParts parts(seed);
        IndexedNode drawn = IndexedNodes(parts).draw();
        const auto wrong =
            parts.number(0, static_cast<std::uint32_t>(drawn.inputs[drawn.indices].shape.elements()) - 1);
        const std::int32_t index = outside(parts, drawn, wrong);
        drawn.set(wrong, index);
        INFO("seed " << seed << ": " << drawn.node.name << ", index " << wrong << " is " << index);
        const ir::Graph graph = read_node(drawn.node, drawn.inputs);
        const ir::Graph words = passes::compute_in_words(graph, {.sum_tile = 128, .precision = "default"});
        const std::string rule = "is " + std::to_string(index) + "; it must be from ";
        CHECK_THAT(message(graph, drawn),
                   Catch::StartsWith("layer \"node\": an index along axis ") && Catch::Contains(rule));
        CHECK_THAT(message(words, drawn),
                   Catch::StartsWith("layer \"node\": an index along axis ") && Catch::Contains(rule));
    }
}

TEST_CASE("The first of the largest elements are found in words", "[compiler][passes]") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    const std::vector<float> hard{nan, -nan, infinity, -infinity, 0.0F, -0.0F, 1.5F, -1.5F, 1e30F, -1e30F};
    const std::vector<std::int32_t> whole{least, least + 1, -1, 0, 1, most - 1, most};
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape{parts.number(1, 3), parts.number(1, 9), parts.number(1, 9)};
        const auto axis = parts.number(0, 2);
        Tensor x = integers(shape, std::vector<std::int32_t>(shape.elements()));
        if (parts.number(0, 2) == 0) {
            std::vector<std::int32_t> numbers(shape.elements());
            for (std::int32_t& number : numbers) number = whole[parts.number(0, 6)];
            x = integers(shape, numbers);
        } else {
            // Of few numbers, many are equal.
            std::vector<float> numbers(shape.elements());
            const std::uint32_t first = parts.number(0, 1) * 2;
            for (float& number : numbers) number = hard[parts.number(first, 9)];
            x = reals(shape, numbers);
        }
        for (const std::uint32_t largest : {0U, 1U}) {
            const Tensor k = list({static_cast<std::int32_t>(parts.number(1, shape[axis]))});
            // The second result has the indices; the first one's bits follow from them.
            const ir::Graph graph = read_node(onnx("TopK", {{"axis", axis}, {"largest", largest}}), {x, k});
            const ir::Graph words =
                passes::compute_in_words(graph, {.sum_tile = 128, .precision = "default"});
            CHECK(results_of(words, {x.bytes}, 1) == results_of(graph, {x.bytes}, 1));
            const nlohmann::json of_arg{
                {"axis", axis}, {"keepdims", parts.number(0, 1)}, {"select_last_index", parts.number(0, 1)}};
            in_words(onnx(largest == 1 ? "ArgMax" : "ArgMin", of_arg), {x});
        }
    }
}

TEST_CASE("Marks of indices are words, and indices beyond the ends have none", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(50); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const auto depth = static_cast<std::int32_t>(parts.number(1, 6));
        std::vector<std::int32_t> indices(6);
        for (std::int32_t& index : indices) index = static_cast<std::int32_t>(parts.number(0, 30)) - 15;
        indices[parts.number(0, 5)] = std::numeric_limits<std::int32_t>::min();
        indices[parts.number(0, 5)] = std::numeric_limits<std::int32_t>::max();
        const Tensor wanted = integers({2, 3}, indices);
        const auto axis = static_cast<std::int32_t>(parts.number(0, 2));
        in_words(onnx("OneHot", {{"axis", axis}}),
                 {wanted, list({depth}), constant(reals({2}, {-0.5F, 3.0F}))});
        in_words(onnx("OneHot", {{"axis", axis}}), {wanted, list({depth}), list({-4, 9})});
        in_words(tflite("ONE_HOT", {{"axis", axis}}),
                 {wanted, list({depth}), constant(reals({}, {3.0F})), constant(reals({}, {0.0F}))});
    }
}

TEST_CASE("Comparisons, truth values and sums of integers are words", "[compiler][passes]") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor a = reals({1, 7}, {1, 2, 3, -0.0F, nan, nan, -1});
    const Tensor b = reals({1, 7}, {2, 2, 1, 0, nan, 1, -1});
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    const Tensor m = integers({1, 5}, {-5, 3, 7, least, 0});
    const Tensor n = integers({1, 5}, {3, 3, -7, 1, 0});
    for (const char* const op : {"Add", "Sub", "Mul", "Max", "Min"}) {
        INFO(op);
        in_words(onnx(op), {m, n});
    }
    for (const auto& [first, second] : {std::pair{a, b}, {m, n}}) {
        for (const char* const comparison :
             {"less", "less_or_equal", "greater", "greater_or_equal", "equal", "not_equal"}) {
            for (const char* const both : {"logical_and", "logical_or", "logical_xor"}) {
                INFO(comparison << ", " << both);
                check_truth(first, second, [&](TruthGraph& made) {
                    const ir::ValueId differ = made.truth("not_equal", {made.a, made.b});
                    return made.truth(both, {made.truth(comparison, {made.a, made.b}), differ});
                });
            }
        }
        // A number that is not 0 is true, NaN too.
        check_truth(first, second, [](TruthGraph& made) {
            return made.truth("cast", {made.a}, {{"truth", std::int64_t{1}}});
        });
    }
}

TEST_CASE("An embedding is computed in words, also of real numbers", "[compiler][passes]") {
    FileNode embedding = keras("Embedding", {{"input_dim", 3U}, {"output_dim", 2U}});
    embedding.weights = {0, 1, 2, 3, 4, 5};
    const std::vector<float> expected{4, 5, 0, 1, 4, 5, 0, 1};
    CHECK(in_words(embedding, {integers({1, 2}, {2, 0})}).reals() == expected);
    CHECK(in_words(embedding, {reals({1, 2}, {2.5F, 0.5F})}).reals() == expected);
}

TEST_CASE("An index that no machine without addresses can find is refused in words", "[compiler][passes]") {
    const auto refusal = [](const FileNode& node, const std::vector<Tensor>& inputs) {
        try {
            passes::compute_in_words(read_node(node, inputs), {});
        } catch (const ModelError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    CHECK(
        refusal(onnx("GatherElements"), {constant(reals({9000}, std::vector<float>(9000, 1.0F))),
                                         integers({9000}, std::vector<std::int32_t>(9000, 0))}) ==
        "layer \"node\": a tensor core compares each of 9000 elements with 9000 computed indices; there may "
        "be 67108864 comparisons");
    CHECK(
        refusal(onnx("ScatterElements"), {constant(reals({9000}, std::vector<float>(9000, 1.0F))),
                                          integers({9000}, std::vector<std::int32_t>(9000, 0)),
                                          reals({9000}, std::vector<float>(9000, 1.0F))}) ==
        "layer \"node\": a tensor core compares each of 9000 elements with 9000 computed indices; there may "
        "be 67108864 comparisons");
    constexpr std::uint32_t too_long = (1U << 18U) + 1;
    CHECK(
        refusal(onnx("GatherElements"),
                {constant(reals({too_long}, std::vector<float>(too_long, 1.0F))), integers({1}, {0})}) ==
        "layer \"node\": its indices are of an axis of 262145 elements; a tensor core finds single elements "
        "along at most 262144");
    CHECK(refusal(onnx("TopK"), {reals({1, 8193}, std::vector<float>(8193, 1.0F)), list({257})}) ==
          "layer \"node\": its k is 257, of lines of 8193 elements; a tensor core finds at most 256, or "
          "compares all 8193 elements with those of their lines, 67108864 pairs at most");
    CHECK_THAT(refusal(onnx("ReverseSequence"), {counted_reals({3, 1}), integers({1}, {2})}),
               Catch::Contains("another layer computes its lengths; a tensor core needs constant ones"));
}

TEST_CASE("Triangles, reversed sequences, marks of the largest and casts are words", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(50); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape{parts.number(1, 3), parts.number(1, 5), parts.number(1, 5)};
        std::vector<float> numbers = parts.values(shape.elements(), -4.0F, 4.0F);
        const Tensor x = reals(shape, numbers);
        const Tensor k = constant(integers({}, {static_cast<std::int32_t>(parts.number(0, 4)) - 2}));
        in_words(onnx("Trilu", {{"upper", parts.number(0, 1)}}), {x, k});
        in_words(onnx("Cast", {{"to", 6}}), {x});
        std::vector<std::int32_t> lengths = below(parts, shape[0], shape[1] + 1, 0);
        if (parts.number(0, 1) == 0) std::ranges::fill(lengths, lengths.front());
        in_words(onnx("ReverseSequence", {{"batch_axis", 0}, {"time_axis", 1}}), {x, list(lengths)});
        // Of few numbers, many are equal.
        for (float& number : numbers) number = static_cast<float>(static_cast<int>(number));
        in_words(onnx("Hardmax", {{"axis", parts.number(0, 2)}}), {reals(shape, numbers)});
    }
    in_words(onnx("Trilu"), {integers({1, 2, 2}, {1, 2, 3, 4})});
    in_words(onnx("Cast", {{"to", 1}}), {integers({1, 3}, {-3, 0, 1 << 20})});
}

TEST_CASE("Bits are combined and moved in words", "[compiler][passes]") {
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    const Tensor a = integers({1, 6}, {0b1100, -1, 0, 7, least, 255});
    const Tensor b = integers({1, 6}, {0b1010, 3, 31, 33, 1, 0});
    for (const char* const name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) in_words(onnx(name), {a, b});
    in_words(onnx("BitwiseNot"), {a});
    for (const char* const direction : {"LEFT", "RIGHT"})
        in_words(onnx("BitShift", {{"direction", direction}}), {a, b});
    const Tensor signed_places = integers({1, 6}, {-2, 3, 31, 33, 1, 0});
    in_words(tflite("RIGHT_SHIFT", {}, {{DataType::Int32, {}}}), {a, signed_places});
}

TEST_CASE("Functions of angles and their inverses have words near their values", "[compiler][passes]") {
    tests::GraphParts parts(5);
    const auto check = [&](const char* name, std::vector<float> numbers) {
        INFO(name);
        const auto count = static_cast<std::uint32_t>(numbers.size());
        const ir::Graph graph = read_node(onnx(name), {reals({1, count}, numbers)});
        const ir::Graph words = passes::compute_in_words(graph, {.sum_tile = 128, .precision = "default"});
        const std::vector<Tensor> expected = results_of(graph, {reals({1, count}, numbers).bytes}, 1);
        const std::vector<Tensor> found = results_of(words, {reals({1, count}, numbers).bytes}, 1);
        CHECK(are_close(found.front().reals(), expected.front().reals()));
    };
    const auto drawn = [&](float low, float high, std::vector<float> ends) {
        const std::vector<float> between = parts.values(200, low, high);
        ends.insert(ends.end(), between.begin(), between.end());
        return ends;
    };
    check("Tan", drawn(-1.5F, 1.5F, {0.0F}));
    check("Asin", drawn(-1.0F, 1.0F, {-1.0F, 0.0F, 1.0F, 1e-6F}));
    check("Acos", drawn(-1.0F, 1.0F, {-1.0F, 0.0F, 1.0F, 1e-6F}));
    check("Atan", drawn(-9.0F, 9.0F, {0.0F, 1e20F, -1e20F}));
    check("Sinh", drawn(-9.0F, 9.0F, {0.0F, 1.0F, -1.0F, 1e-6F, 60.0F, -60.0F}));
    check("Cosh", drawn(-9.0F, 9.0F, {0.0F, 1e-6F, 60.0F, -60.0F}));
    check("Asinh", drawn(-9.0F, 9.0F, {0.0F, 1e-6F, 1e30F, -1e30F}));
    check("Acosh", drawn(1.0F, 9.0F, {1.0F, 1.000001F, 1e30F}));
    check("Atanh", drawn(-0.99F, 0.99F, {0.0F, 1e-6F}));
    check("Shrink", drawn(-2.0F, 2.0F, {0.0F, 0.5F, -0.5F}));
}

namespace {

/// A network in float32 whose truth values lie inside: two comparisons of `a` and `b`, combined, choose
/// between `a` and `b`.
ir::Graph with_truths(const std::string& first, const std::string& second, const std::string& combination,
                      bool is_of_integers) {
    const std::string compared = is_of_integers ? "%2, %3" : "%0, %1";
    return tests::graph_of_text(
        "graph \"truths\"\ninputs %0, %1\noutputs %8\n"
        "%0 float32 1x3x4 \"a\"\n%1 float32 1x3x4 \"b\"\n%2 int32 1x3x4 \"i\"\n%3 int32 1x3x4 \"j\"\n"
        "%4 uint8 1x3x4 \"first\"\n%5 uint8 1x3x4 \"second\"\n%6 uint8 1x3x4 \"both\"\n"
        "%7 float32 1x3x4 \"as number\"\n%8 float32 1x3x4 \"chosen\"\n%9 uint8 3x1 \"rows\" = [1, 0, 1]\n"
        "%10 uint8 1x3x4 \"known\"\n"
        "%2 = cast(%0) \"i\"\n%3 = cast(%1) \"j\"\n%4 = " +
        first + "(" + compared + ") \"first\"\n%5 = " + second + "(" + compared +
        ") \"second\"\n%10 = " + combination + "(%5, %9) \"known\"\n%6 = " + combination +
        "(%4, %10) \"both\"\n%7 = cast(%4) \"as number\"\n%8 = where(%6, %7, %1) \"chosen\"\n");
}

}  // namespace

TEST_CASE("Truth values inside of a network are words", "[compiler][passes]") {
    const std::vector<std::string> comparisons{"equal",   "not_equal",     "less",
                                               "greater", "less_or_equal", "greater_or_equal"};
    const std::vector<std::string> combinations{"logical_and", "logical_or", "logical_xor", "equal"};
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        tests::GraphParts parts(seed);
        const std::string first = comparisons[parts.number(0, 5)];
        const std::string second = comparisons[parts.number(0, 5)];
        const std::string combination = combinations[parts.number(0, 3)];
        INFO("seed " << seed << ": " << first << ", " << second << ", " << combination);
        const ir::Graph graph = with_truths(first, second, combination, seed % 2 == 0);
        REQUIRE(ir::find_fault(graph).value_or("") == "");
        const ir::Graph words = passes::compute_in_words(graph, {.sum_tile = 128, .precision = "default"});
        REQUIRE(ir::find_fault(words).value_or("") == "");
        for (const ir::Value& value : words.values) CHECK(value.type != DataType::Uint8);
        // Whole numbers of two inferences, of which many are equal.
        std::vector<std::vector<float>> numbers(2, std::vector<float>(24));
        for (std::vector<float>& input : numbers) {
            for (float& number : input) number = static_cast<float>(parts.number(0, 2)) - 1.0F;
        }
        // Comparisons with NaN are false, but for the one for another number.
        if (seed % 2 == 1) numbers[0][parts.number(0, 23)] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<std::span<const float>> inputs(numbers.begin(), numbers.end());
        const std::vector<float> chosen = reference::execute(words, inputs, 2).front();
        const std::vector<float> expected = reference::execute(graph, inputs, 2).front();
        REQUIRE(chosen.size() == expected.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const bool are_alike = std::isnan(chosen[i]) && std::isnan(expected[i]);
            CHECK((chosen[i] == expected[i] || are_alike));
        }
    }
}

TEST_CASE("Sums, products and limits of whole numbers wrap around on words", "[compiler][passes]") {
    const std::vector<std::string> names{"Add", "Sub", "Mul", "Max", "Min"};
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        tests::GraphParts parts(seed);
        const std::string& name = names[seed % names.size()];
        INFO("seed " << seed << ": " << name);
        const auto drawn = [&](const ir::Shape& shape) {
            std::vector<std::int32_t> numbers(shape.elements());
            for (std::int32_t& number : numbers) {
                number = static_cast<std::int32_t>(parts.number(0, 1U << 31U));
                if (parts.number(0, 1) == 0) number = static_cast<std::int32_t>(parts.number(0, 4)) - 2;
            }
            return integers(shape, numbers);
        };
        const std::uint32_t rows = parts.number(1, 4);
        const std::uint32_t columns = parts.number(1, 5);
        Tensor second =
            drawn(parts.number(0, 1) == 0 ? ir::Shape{1, rows, columns} : ir::Shape{1, 1, columns});
        second.is_constant = parts.number(0, 1) == 0;
        static_cast<void>(in_words(onnx(name), {drawn({1, rows, columns}), second}));
    }
}

TEST_CASE("Numbers of eight bits that may be no truth values are refused on words", "[compiler][passes]") {
    const auto refusal = [](const std::string& line, const std::string& rows) {
        const ir::Graph graph = tests::graph_of_text(
            "graph \"bytes\"\ninputs %0\noutputs %3\n%0 float32 1x3 \"a\"\n%1 uint8 1x3 \"bytes\"\n"
            "%2 uint8 1x3 \"known\" = " +
            rows + "\n%3 float32 1x3 \"y\"\n%4 uint8 1x3 \"same\"\n" + line +
            "\n%4 = equal(%1, %2) \"same\"\n%3 = cast(%4) \"y\"\n");
        try {
            static_cast<void>(passes::compute_in_words(graph, {.sum_tile = 128, .precision = "default"}));
        } catch (const ModelError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    CHECK(refusal("%1 = cast(%0) \"bytes\" {truth 1}", "[0, 1, 1]") == "no error");
    CHECK_THAT(refusal("%1 = cast(%0) \"bytes\" {truth 1}", "[0, 1, 2]"), Catch::Contains("is uint8"));
    CHECK_THAT(refusal("%1 = cast(%0) \"bytes\"", "[0, 1, 1]"), Catch::Contains("is uint8"));
}

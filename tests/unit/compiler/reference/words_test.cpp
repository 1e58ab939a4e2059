// Nodes that state every bit of their results, against definitions that are written here once more.
#include "compiler/operators/words.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/word_operation.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"
#include "tests/support/word_nodes.h"

using namespace systole;

namespace {

using tests::words::bits;
using tests::words::broadcast_element;
using tests::words::Floats;
using tests::words::for_each_place;
using tests::words::graph_of_node;
using tests::words::hard_floats;
using tests::words::product_of;
using tests::words::run;
using tests::words::Sizes;
using tests::words::stored;
using tests::words::to_shape;

using Words = std::vector<std::uint32_t>;

/// The words of the only output for those of the only input.
Words run_words(const ir::Graph& graph, const Words& input, std::uint32_t batch) {
    const std::vector<std::uint8_t> bytes = tests::bytes_of(input);
    const std::vector<std::uint8_t> output = reference::run(graph, std::vector{std::span(bytes)}, batch)[0];
    Words words(output.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), output.data(), output.size());
    return words;
}

/// What this test defines once more: operations of arithmetic, comparisons, and choices.
const std::vector<std::string> arithmetic{"add",     "subtract", "multiply", "divide", "maximum",
                                          "minimum", "negate",   "absolute", "less",   "less_equal",
                                          "equal",   "select",   "add_int",  "xor",    "constant"};

std::uint32_t word_of(const std::string& operation, const std::vector<std::uint32_t>& operands,
                      std::uint32_t constant) {
    const auto real = [&](std::size_t i) { return std::bit_cast<float>(operands[i]); };
    const auto of = [](float x) { return std::bit_cast<std::uint32_t>(stored(x)); };
    const bool has_nan = operands.size() == 2 && (std::isnan(real(0)) || std::isnan(real(1)));
    if (operation == "constant") return constant;
    if (operation == "add") return of(real(0) + real(1));
    if (operation == "subtract") return of(real(0) - real(1));
    if (operation == "multiply") return of(real(0) * real(1));
    if (operation == "divide") return of(real(0) / real(1));
    if (operation == "maximum" || operation == "minimum") {
        if (has_nan) return 0x7fc00000;
        const bool is_first_less =
            real(0) < real(1) || (real(0) == real(1) && std::signbit(real(0)) && !std::signbit(real(1)));
        return operands[is_first_less == (operation == "maximum") ? 1 : 0];
    }
    if (operation == "negate") return of(-real(0));
    if (operation == "absolute") return of(std::abs(real(0)));
    if (operation == "less") return real(0) < real(1) ? 1 : 0;
    if (operation == "less_equal") return real(0) <= real(1) ? 1 : 0;
    if (operation == "equal") return real(0) == real(1) ? 1 : 0;
    if (operation == "select") return operands[0] != 0 ? operands[1] : operands[2];
    if (operation == "add_int") return operands[0] + operands[1];
    if (operation == "xor") return operands[0] ^ operands[1];
    FAIL(operation);
    return 0;
}

/// Of the values before it, one that is a settled float if `is_float`; results of operations on bits are
/// none.
struct ChainValue {
    bool is_float = true;
};

/// Steps drawn at random, of which the last is of float32.
std::vector<operators::WordStep> random_steps(tests::GraphParts& parts, std::size_t inputs) {
    std::vector<ChainValue> values(inputs);
    std::vector<operators::WordStep> steps;
    const auto any_of = [&](bool is_float) {
        while (true) {
            const std::uint32_t value = parts.number(0, static_cast<std::uint32_t>(values.size()) - 1);
            if (!is_float || values[value].is_float) return static_cast<std::uint8_t>(value);
        }
    };
    const std::uint32_t wanted = parts.number(1, 12);
    while (steps.size() < wanted || !values.back().is_float) {
        const std::string name =
            arithmetic[parts.number(0, static_cast<std::uint32_t>(arithmetic.size()) - 1)];
        operators::WordStep step{.operation = *find_word_operation(name)};
        const bool is_truth = name == "less" || name == "less_equal" || name == "equal";
        const bool is_of_bits = name == "add_int" || name == "xor";
        if (name == "constant") step.constant = bits(hard_floats(parts, 1)).front();
        for (unsigned i = 0; i < traits_of(step.operation).operands; ++i) {
            step.operands.push_back(any_of(!is_of_bits && !(name == "select" && i == 0)));
        }
        steps.push_back(step);
        values.push_back({.is_float = !is_truth && !is_of_bits});
    }
    return steps;
}

}  // namespace

TEST_CASE("A chain of words computes its steps for every element, broadcast", "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        // Now and then with more elements than the reference works on at a time.
        Sizes whole{1};
        const std::uint32_t most = seed % 20 == 0 ? 40 : 4;
        for (std::uint32_t axis = parts.number(0, 3); axis-- > 0;) whole.push_back(parts.number(1, most));
        const std::uint32_t inputs = parts.number(1, 4);
        const std::uint32_t batch = parts.number(1, 3);
        std::vector<Sizes> shapes;
        std::vector<bool> constants;
        std::vector<Floats> contents;
        for (std::uint32_t i = 0; i < inputs; ++i) {
            Sizes shape = whole;
            for (std::uint32_t& extent : shape) {
                if (i > 0 && parts.number(0, 2) == 0) extent = 1;
            }
            constants.push_back(i > 0 && parts.number(0, 1) == 0);
            if (constants.back()) shape.erase(shape.begin(), shape.begin() + parts.number(0, 1));
            shapes.push_back(shape);
            const std::size_t elements = to_shape(shape).elements();
            contents.push_back(hard_floats(parts, elements * (constants.back() ? 1 : batch)));
        }
        const std::vector<operators::WordStep> steps = random_steps(parts, inputs);
        std::vector<std::string> texts;
        for (const operators::WordStep& step : steps) {
            texts.push_back(ir::to_text(step));
            INFO(texts.back());
            CHECK(operators::word_step_of(texts.back()) == step);
        }
        const ir::Graph graph = graph_of_node("word_chain", {{"steps", texts}}, shapes, constants, contents);
        REQUIRE(graph.values[graph.outputs.front()].shape == to_shape(whole));
        std::vector<Floats> given;
        for (std::uint32_t i = 0; i < inputs; ++i) {
            if (!constants[i]) given.push_back(contents[i]);
        }
        std::vector<std::uint32_t> expected;
        for (std::uint32_t image = 0; image < batch; ++image) {
            for_each_place(whole, [&](const Sizes& place) {
                std::vector<std::uint32_t> values;
                for (std::uint32_t i = 0; i < inputs; ++i) {
                    const std::size_t each = contents[i].size() / (constants[i] ? 1 : batch);
                    const auto first =
                        contents[i].begin() + static_cast<std::ptrdiff_t>(constants[i] ? 0 : image * each);
                    const Floats own(first, first + static_cast<std::ptrdiff_t>(each));
                    values.push_back(std::bit_cast<std::uint32_t>(broadcast_element(own, shapes[i], place)));
                }
                for (const operators::WordStep& step : steps) {
                    std::vector<std::uint32_t> operands;
                    for (const std::uint8_t operand : step.operands) operands.push_back(values[operand]);
                    values.push_back(
                        word_of(std::string(traits_of(step.operation).name), operands, step.constant));
                }
                expected.push_back(values.back());
            });
        }
        CHECK(bits(run(graph, given, batch)) == expected);
    }
}

TEST_CASE("A chain of words refuses steps that are none", "[compiler][reference]") {
    const auto refusal = [](const std::vector<std::string>& steps) -> std::string {
        try {
            graph_of_node("word_chain", {{"steps", steps}}, {{1, 2}}, {false}, {{}});
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal({"exp 0"}).empty());
    CHECK(refusal({}) == "layer \"n\": it has no steps; it must have at least 1");
    CHECK(refusal({"cotangent 0"}) ==
          "layer \"n\": its step is \"cotangent 0\"; it must begin with an operation of a chain");
    CHECK(refusal({"row"}) == "layer \"n\": its step is \"row\"; a tensor has no rows and columns");
    CHECK(refusal({"exp 1"}) == "layer \"n\": its step is \"exp 1\"; it has 1 value before it");
    CHECK(refusal({"add 0"}) == "layer \"n\": its step is \"add 0\"; add has 2 operands");
    CHECK(refusal({"constant 1"}) ==
          "layer \"n\": its step is \"constant 1\"; a constant is a word of 32 bits, such as 0x3f800000");
    CHECK(refusal({"exp -1"}) ==
          "layer \"n\": its step is \"exp -1\"; operands are numbers of values, 0 to 255");
}

namespace {

/// Two numbers become one.
std::uint32_t combined(const std::string& reduction, std::uint32_t a, std::uint32_t b) {
    const auto i = static_cast<std::int32_t>(a);
    const auto j = static_cast<std::int32_t>(b);
    if (reduction == "sum") return word_of("add", {a, b}, 0);
    if (reduction == "product") return word_of("multiply", {a, b}, 0);
    if (reduction == "maximum" || reduction == "minimum") return word_of(reduction, {a, b}, 0);
    if (reduction == "sum_int") return a + b;
    if (reduction == "product_int") return a * b;
    if (reduction == "maximum_int") return i > j ? a : b;
    if (reduction == "minimum_int") return i < j ? a : b;
    if (reduction == "maximum_uint") return a > b ? a : b;
    if (reduction == "minimum_uint") return a < b ? a : b;
    if (reduction == "and") return a & b;
    if (reduction == "or") return a | b;
    if (reduction == "xor") return a ^ b;
    FAIL(reduction);
    return 0;
}

/// A reduction, and the type of its values.
struct DrawnReduction {
    std::string name;
    DataType type = DataType::Float32;
};

DrawnReduction draw_reduction(tests::GraphParts& parts) {
    const std::uint32_t number = parts.number(0, static_cast<std::uint32_t>(reduction_count - 1));
    return {.name = std::string(reduction_names.at(number)),
            .type = number < 4 ? DataType::Float32 : DataType::Int32};
}

/// Floats of all sizes; or integers, of which many are NaN or subnormal as floats.
Words hard_words(tests::GraphParts& parts, DataType type, std::size_t count) {
    if (type == DataType::Float32) return bits(hard_floats(parts, count));
    constexpr std::uint32_t half = 0xFFFF;
    const Words upper{0, 0x7F800000, 0x7FC00000, 0x80000000, 0xFFC00000, 0xFFFF0000};
    Words words(count);
    for (std::uint32_t& word : words) {
        const std::uint32_t kind = parts.number(0, 8);
        word = kind < upper.size() ? upper[kind] : parts.number(0, half) << 16;
        word |= parts.number(0, half);
    }
    return words;
}

/// Numbers in blocks, each by halves, and the blocks in order.
std::uint32_t reduced(const std::string& reduction, const Words& numbers, std::size_t block) {
    Words of_blocks;
    for (std::size_t first = 0; first < numbers.size(); first += block) {
        Words left(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                   numbers.begin() + static_cast<std::ptrdiff_t>(std::min(first + block, numbers.size())));
        while (left.size() > 1) {
            std::size_t half = 1;
            while (2 * half < left.size()) half *= 2;
            for (std::size_t i = half; i < left.size(); ++i) {
                left[i - half] = combined(reduction, left[i - half], left[i]);
            }
            left.resize(half);
        }
        of_blocks.push_back(left.front());
    }
    std::uint32_t result = of_blocks.front();
    for (std::size_t i = 1; i < of_blocks.size(); ++i) result = combined(reduction, result, of_blocks[i]);
    return result;
}

}  // namespace

TEST_CASE("Words are reduced along axes in blocks by halves", "[compiler][reference]") {
    std::map<std::string, std::uint32_t> met;
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const DrawnReduction drawn = draw_reduction(parts);
        const auto& reduction = drawn.name;
        ++met[reduction];
        Sizes extents{1};
        for (std::uint32_t axis = parts.number(1, 3); axis-- > 0;) {
            extents.push_back(parts.number(1, seed % 10 == 0 ? 30 : 6));
        }
        std::vector<std::int64_t> axes;
        std::vector<bool> is_reduced(extents.size(), false);
        for (std::size_t axis = 0; axis < extents.size(); ++axis) {
            is_reduced[axis] = parts.number(0, 1) == 0;
            if (is_reduced[axis]) axes.push_back(static_cast<std::int64_t>(axis));
        }
        if (axes.empty()) is_reduced.assign(extents.size(), true);
        const std::int64_t keep = parts.number(0, 1);
        // 0: no machine says how many, and they are 128.
        const std::size_t stated = seed % 3 == 0 ? 0 : parts.number(1, 200);
        const std::size_t block = stated == 0 ? 128 : stated;
        const std::uint32_t batch = parts.number(1, 3);
        const std::size_t elements = to_shape(extents).elements();
        const Words input = hard_words(parts, drawn.type, batch * elements);
        const ir::Graph graph = graph_of_node("word_reduce",
                                              {{"reduction", reduction},
                                               {"axes", axes},
                                               {"keep", keep},
                                               {"sum_tile", static_cast<std::int64_t>(stated)}},
                                              {extents}, {false}, {{}}, {drawn.type});
        Sizes kept;
        for (std::size_t axis = 0; axis < extents.size(); ++axis) {
            if (!is_reduced[axis]) kept.push_back(extents[axis]);
            if (is_reduced[axis] && keep == 1) kept.push_back(1);
        }
        CHECK(graph.values[graph.outputs.front()].shape == to_shape(kept));
        Words expected;
        for (std::uint32_t image = 0; image < batch; ++image) {
            Sizes results = extents;
            for (std::size_t axis = 0; axis < extents.size(); ++axis) {
                if (is_reduced[axis]) results[axis] = 1;
            }
            for_each_place(results, [&](const Sizes& result) {
                Words numbers;
                std::size_t element = image * elements;
                for_each_place(extents, [&](const Sizes& place) {
                    bool is_part = true;
                    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
                        is_part &= is_reduced[axis] || place[axis] == result[axis];
                    }
                    if (is_part) numbers.push_back(input[element]);
                    ++element;
                });
                expected.push_back(reduced(reduction, numbers, block));
            });
        }
        CHECK(graph.values[graph.outputs.front()].type == drawn.type);
        CHECK(run_words(graph, input, batch) == expected);
    }
    for (const std::string_view name : reduction_names)
        CHECK(met[std::string(name)] >= tests::random_share(5));
}

TEST_CASE("Words of a window are taken one after the other, without those outside", "[compiler][reference]") {
    std::map<std::string, std::uint32_t> met;
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const DrawnReduction drawn = draw_reduction(parts);
        const auto& reduction = drawn.name;
        ++met[reduction];
        const ir::FeatureMap map = parts.shape();
        const ir::Window window = parts.window(map);
        const std::uint32_t batch = parts.number(1, 2);
        // The axes before the last three are more images.
        Sizes leading{1};
        for (std::uint32_t axis = parts.number(0, 2); axis-- > 0;) leading.push_back(parts.number(1, 3));
        const std::size_t images = to_shape(leading).elements();
        const auto with_leading = [&](const ir::FeatureMap& of) {
            Sizes extents = leading;
            extents.insert(extents.end(), {of.height, of.width, of.channels});
            return extents;
        };
        const Words input = hard_words(parts, drawn.type, batch * images * map.elements());
        std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
        attributes.emplace_back("reduction", reduction);
        const ir::Graph graph =
            graph_of_node("word_windows", attributes, {with_leading(map)}, {false}, {{}}, {drawn.type});
        const ir::FeatureMap result = ir::window_output(map, window, map.channels);
        CHECK(graph.output().shape == to_shape(with_leading(result)));
        Words expected;
        for (std::size_t image = 0; image < batch * images; ++image) {
            for_each_place({result.height, result.width, result.channels}, [&](const Sizes& place) {
                Words numbers;
                for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
                    for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
                        const std::int64_t y =
                            std::int64_t{place[0]} * window.stride_y + row - window.pad_top;
                        const std::int64_t x =
                            std::int64_t{place[1]} * window.stride_x + column - window.pad_left;
                        if (y < 0 || x < 0 || y >= map.height || x >= map.width) continue;
                        const auto element =
                            static_cast<std::size_t>((y * map.width + x) * map.channels) + place[2];
                        numbers.push_back(input[image * map.elements() + element]);
                    }
                }
                std::uint32_t value = numbers.at(0);
                for (std::size_t i = 1; i < numbers.size(); ++i)
                    value = combined(reduction, value, numbers[i]);
                expected.push_back(value);
            });
        }
        CHECK(graph.values[graph.outputs.front()].type == drawn.type);
        CHECK(run_words(graph, input, batch) == expected);
    }
    for (const std::string_view name : reduction_names)
        CHECK(met[std::string(name)] >= tests::random_share(5));
}

TEST_CASE("A window without an element of the image is refused", "[compiler][reference]") {
    // Two elements of the kernel, 5 columns apart, left and right of an image of 2 columns.
    const ir::Window window{.kernel_width = 2, .pad_left = 3, .pad_right = 3, .dilation_x = 5};
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
    attributes.emplace_back("reduction", std::string("sum"));
    CHECK_THROWS_WITH(graph_of_node("word_windows", attributes, {{1, 1, 2, 1}}, {false}, {{}}),
                      Catch::Contains("each must have an element"));
}

namespace {

/// The elements under a window, channels [first, first + count), zeros outside the image; nothing instead if
/// `only_inside`.
Floats under_window(const Floats& image, const ir::FeatureMap& map, const ir::Window& window,
                    const Sizes& place, std::uint32_t first, std::uint32_t count) {
    Floats under;
    for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
        for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
            const std::int64_t y = std::int64_t{place[0]} * window.stride_y + row - window.pad_top;
            const std::int64_t x = std::int64_t{place[1]} * window.stride_x + column - window.pad_left;
            const bool is_inside = y >= 0 && x >= 0 && y < map.height && x < map.width;
            for (std::uint32_t c = first; c < first + count; ++c) {
                under.push_back(is_inside
                                    ? image[static_cast<std::size_t>((y * map.width + x) * map.channels) + c]
                                    : 0.0F);
            }
        }
    }
    return under;
}

Floats column_of_matrix(const Floats& matrix, std::size_t first, std::size_t step) {
    Floats column;
    for (std::size_t i = first; i < matrix.size(); i += step) column.push_back(matrix[i]);
    return column;
}

}  // namespace

TEST_CASE("Products multiply the parts of their operands that the precision names", "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const std::string precision = std::vector<std::string>{"default", "high", "highest"}[seed % 3];
        const std::size_t tile = parts.number(1, 40);
        const std::uint32_t groups = parts.number(1, 2);
        const std::uint32_t own = parts.number(1, 4);
        const std::uint32_t filters = groups * parts.number(1, 40);
        const ir::FeatureMap map{parts.number(1, 5), parts.number(1, 5), groups * own};
        const ir::Window window = parts.window(map);
        const std::uint64_t depth = window.kernel_elements() * own;
        tests::Op op = tests::convolution(window, own, filters, parts.values(depth * filters));
        op.attributes.insert(op.attributes.end(), {{"groups", std::int64_t{groups}},
                                                   {"sum_tile", static_cast<std::int64_t>(tile)},
                                                   {"precision", precision}});
        const ir::Graph graph = tests::one_node(op, {map});
        const Floats image = parts.values(map.elements());
        const ir::FeatureMap result = graph.output_map();
        Floats expected;
        for_each_place({result.height, result.width, filters}, [&](const Sizes& place) {
            const std::uint32_t group = place[2] / (filters / groups);
            expected.push_back(product_of(under_window(image, map, window, place, group * own, own),
                                          column_of_matrix(op.weights, place[2], filters), tile, precision));
        });
        CHECK(bits(reference::execute(graph, image, 1)) == bits(expected));

        // A dense layer has the sums of a window over the whole image.
        tests::Op dense = parts.dense(map, filters, false);
        dense.attributes = {{"sum_tile", static_cast<std::int64_t>(tile)}, {"precision", precision}};
        Floats units;
        for (std::uint32_t unit = 0; unit < filters; ++unit) {
            units.push_back(
                product_of(image, column_of_matrix(dense.weights, unit, filters), tile, precision));
        }
        CHECK(bits(tests::evaluate(dense, map, image, 1)) == bits(units));
    }
}

TEST_CASE("A depthwise convolution in order adds the products of elements inside the image",
          "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::FeatureMap map = parts.shape();
        const ir::Window window = parts.window(map);
        const std::uint32_t multiplier = parts.number(1, 3);
        const std::uint32_t channels = map.channels * multiplier;
        tests::Op op = parts.depthwise(map, window, multiplier, seed % 2 == 0);
        op.weights = hard_floats(parts, op.weights.size());
        op.attributes.emplace_back("in_order", std::int64_t{1});
        const Floats image = hard_floats(parts, map.elements());
        const ir::FeatureMap result = tests::output_shape(op, {map});
        Floats expected;
        for_each_place({result.height, result.width, channels}, [&](const Sizes& place) {
            float sum = 0.0F;
            for (std::uint32_t tap = 0; tap < window.kernel_elements(); ++tap) {
                const std::int64_t y =
                    std::int64_t{place[0]} * window.stride_y + tap / window.kernel_width - window.pad_top;
                const std::int64_t x =
                    std::int64_t{place[1]} * window.stride_x + tap % window.kernel_width - window.pad_left;
                if (y < 0 || x < 0 || y >= map.height || x >= map.width) continue;
                const auto element = static_cast<std::size_t>((y * map.width + x) * map.channels);
                sum = stored(std::fma(image[element + place[2] / multiplier],
                                      op.weights[tap * channels + place[2]], sum));
            }
            expected.push_back(op.bias.empty() ? sum : stored(sum + op.bias[place[2]]));
        });
        CHECK(bits(tests::evaluate(op, map, image, 1)) == bits(expected));
    }
}

TEST_CASE("Nodes on words read and write int32 and bfloat16, too", "[words]") {
    // Each element of x becomes a float, a quarter of it is rounded to bfloat16, and lines are added.
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %2, %3\n%0 int32 1x2x3 \"x\"\n%1 bfloat16 1x2x3 \"quarter\"\n"
        "%2 float32 1x2 \"sum\"\n%3 int32 1x2x3 \"above\"\n"
        "%1 = word_chain(%0) \"quarter\" {steps [\"int_to_float 0\", \"constant 0x3e800000\", "
        "\"multiply 1 2\", \"round_to_bfloat16 3\"]}\n"
        "%2 = word_reduce(%1) \"sum\" {reduction \"sum\", axes [2]}\n"
        "%3 = word_chain(%1) \"above\" {steps [\"constant 0x3f800000\", \"less 1 0\"]}\n");
    const std::vector<std::int32_t> x{-4, 2, 8, 1025, 3, 0};  // 256.25 is 256 as a bfloat16
    const std::vector<std::uint8_t> input = tests::bytes_of(x);
    std::vector<std::uint8_t> quarters;
    const auto results = reference::run(graph, std::vector{std::span(input)}, 1,
                                        [&](ir::ValueId value, std::span<const std::uint8_t> bytes) {
                                            if (value == 1) quarters.assign(bytes.begin(), bytes.end());
                                        });
    CHECK(quarters == tests::bytes_of(std::vector<std::uint16_t>{0xBF80, 0x3F00, 0x4000, 0x4380, 0x3F40, 0}));
    CHECK(results[0] == tests::bytes_of(std::vector<float>{1.5F, 256.75F}));
    CHECK(results[1] == tests::bytes_of(std::vector<std::int32_t>{0, 0, 1, 1, 0, 0}));
}

TEST_CASE("Nodes on words refuse values of other types, and those with a scale", "[words]") {
    const auto refusal = [](const std::string& type) -> std::string {
        try {
            ir::parse_graph("graph \"g\"\ninputs %0\noutputs %1\n%0 " + type +
                                " 1x2 \"x\"\n%1 float32 1x2 \"y\"\n"
                                "%1 = word_chain(%0) \"y\" {steps [\"negate 0\"]}\n",
                            "test", operators::registry());
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    for (const char* const type : {"uint8", "int8", "int16", "uint16"}) {
        CHECK_THAT(refusal(type),
                   Catch::Contains("\"x\" is " + std::string(type) +
                                   "; it must be float32, bfloat16 or int32, without a scale"));
    }
    for (const char* const type : {"float32", "bfloat16", "int32"}) CHECK(refusal(type) == "none");
}

TEST_CASE("Sums of bfloat16 are float32 until the end", "[words]") {
    // 256 + 1 is no bfloat16: taken one after the other, none of the ones would count.
    for (const char* const sum : {"%1 bfloat16 1 \"sum\"\n%1 = word_reduce(%0) \"sum\" {reduction \"sum\", "
                                  "axes [1, 2, 3], sum_tile 1}\n",
                                  "%1 bfloat16 1x1x1x1 \"sum\"\n%1 = word_windows(%0) \"sum\" {reduction "
                                  "\"sum\", kernel [1, 5]}\n"}) {
        const ir::Graph graph = tests::graph_of_text(
            "graph \"g\"\ninputs %0\noutputs %1\n%0 bfloat16 1x1x5x1 \"x\"\n" + std::string(sum));
        const std::vector<std::uint8_t> input =
            tests::bytes_of(std::vector<std::uint16_t>{0x4380, 0x3F80, 0x3F80, 0x3F80, 0x3F80});
        const auto result = reference::run(graph, std::vector{std::span(input)}, 1);
        CHECK(result[0] == tests::bytes_of(std::vector<std::uint16_t>{0x4382}));  // 260
    }
}

TEST_CASE("Reductions refuse numbers of another kind", "[words]") {
    const auto refusal = [](const std::string& op, const std::string& reduction, const std::string& from,
                            const std::string& to) -> std::string {
        try {
            ir::parse_graph("graph \"g\"\ninputs %0\noutputs %1\n%0 " + from + " 1x1x1x1 \"x\"\n%1 " + to +
                                " 1x1x1x1 \"y\"\n%1 = " + op + "(%0) \"y\" {reduction \"" + reduction +
                                (op == "word_reduce" ? "\", axes [1], keep 1}\n" : "\"}\n"),
                            "test", operators::registry());
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    for (const std::string op : {"word_reduce", "word_windows"}) {
        for (std::size_t number = 0; number < reduction_count; ++number) {
            const std::string reduction(reduction_names.at(number));
            INFO(op << " " << reduction);
            const bool is_float = number < 4;
            for (const std::string from : {"float32", "bfloat16", "int32"}) {
                for (const std::string to : {"float32", "bfloat16", "int32"}) {
                    const std::string found = refusal(op, reduction, from, to);
                    const bool is_wrong_from = is_float == (from == "int32");
                    if (!is_wrong_from && is_float != (to == "int32")) {
                        CHECK(found == "none");
                        continue;
                    }
                    CHECK_THAT(found,
                               Catch::Contains((is_wrong_from ? "\"x\" is " + from : "\"y\" is " + to) +
                                               "; for reduction " + reduction + " it must be " +
                                               (is_float ? "float32 or bfloat16" : "int32")));
                }
            }
        }
    }
}

TEST_CASE("Windows over constant images are known", "[compiler][reference]") {
    ir::Graph graph;
    const ir::ValueId images =
        graph.add_constant("c", {2, 1, 3, 1}, DataType::Float32, Floats{1, 2, 3, 10, 20, 30});
    const ir::ValueId result = graph.append(
        "n", operators::registry().at("word_windows"),
        {{"reduction", std::string("sum")}, {"kernel", std::vector<std::int64_t>{1, 2}}}, {images});
    graph.fold_last_node();
    REQUIRE(graph.values[result].constant);
    const std::span<const float> sums = graph.values[result].constant->values<float>();
    CHECK(Floats(sums.begin(), sums.end()) == Floats{3, 5, 30, 50});
    CHECK(graph.values[result].shape == ir::Shape{2, 1, 2, 1});
}

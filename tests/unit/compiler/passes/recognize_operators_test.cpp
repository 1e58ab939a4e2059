// Groups of nodes that are one operator, in the ways in which exporters write them.
#include "compiler/passes/recognize_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;

namespace {

ir::Graph written(const std::string& text) {
    return ir::parse_graph(text, "test", operators::registry());
}

std::string recognized(const std::string& text) {
    return "\n" + ir::to_text(passes::recognize_operators(written(text)));
}

/// "input", followed by the operators of the nodes after the pass.
std::string recognized_kinds(const std::string& text) {
    return passes::tests::kinds(passes::recognize_operators(written(text)));
}

/// Checks that the pass keeps all nodes.
void check_stays(const std::string& text) {
    CHECK(recognized_kinds(text) == passes::tests::kinds(written(text)));
}

/// The text with one part of it, which it must have once, replaced.
std::string with_change(std::string text, const std::string& part, const std::string& by) {
    const std::size_t place = text.find(part);
    REQUIRE(place != std::string::npos);
    REQUIRE(text.find(part, place + 1) == std::string::npos);
    return text.replace(place, part.size(), by);
}

const std::string torch_layer_normalization = R"(graph "g"
inputs %0
outputs %12
%0 float32 1x2x4 "x"
%1 float32 1x2x1 "mean"
%2 float32 1x2x4 "difference"
%3 float32 scalar "two" = [2.0]
%4 float32 1x2x4 "squares"
%5 float32 1x2x1 "variance"
%6 float32 scalar "epsilon" = [0.125]
%7 float32 1x2x1 "sum"
%8 float32 1x2x1 "deviation"
%9 float32 1x2x4 "normalized"
%10 float32 4 "weight" = [1.0, 2.0, 3.0, 4.0]
%11 float32 1x2x4 "scaled"
%12 float32 1x2x4 "/norm/Add_1"
%13 float32 4 "bias" = [0.0, 0.5, 0.25, -1.0]
%1 = reduce_mean(%0) "mean" {axes [2], keep 1}
%2 = subtract(%0, %1) "difference"
%4 = power(%2, %3) "squares"
%5 = reduce_mean(%4) "variance" {axes [2], keep 1}
%7 = add(%5, %6) "sum"
%8 = sqrt(%7) "deviation"
%9 = divide(%2, %8) "normalized"
%11 = multiply(%9, %10) "scaled"
%12 = add(%11, %13) "/norm/Add_1"
)";

// As TFLite's converter leaves it, with parameters that have all axes of x.
const std::string batch_layer_normalization = R"(graph "g"
inputs %0
outputs %12
%0 float32 1x2x4 "x"
%1 float32 1x2x1 "mean"
%2 float32 1x2x4 "squares"
%3 float32 1x2x1 "variance"
%4 float32 scalar "epsilon" = [0.125]
%5 float32 1x2x1 "sum"
%6 float32 1x2x1 "rsqrt"
%7 float32 1x1x4 "gamma" = [1.0, 2.0, 3.0, 4.0]
%8 float32 1x2x4 "factor"
%9 float32 1x2x4 "moved"
%10 float32 1x2x4 "moved_mean"
%11 float32 1x2x4 "shift"
%12 float32 1x2x4 "y"
%13 float32 1x1x4 "beta" = [0.0, 0.5, 0.25, -1.0]
%1 = reduce_mean(%0) "mean" {axes [2], keep 1}
%2 = squared_difference(%0, %1) "squares"
%3 = reduce_mean(%2) "variance" {axes [2], keep 1}
%5 = add(%3, %4) "sum"
%6 = rsqrt(%5) "rsqrt"
%8 = multiply(%6, %7) "factor"
%9 = multiply(%0, %8) "moved"
%10 = multiply(%1, %8) "moved_mean"
%11 = subtract(%13, %10) "shift"
%12 = add(%9, %11) "y"
)";

const std::string written_rms_normalization = R"(graph "g"
inputs %0
outputs %8
%0 float32 1x2x4 "x"
%1 float32 1x2x4 "squares"
%2 float32 1x2x1 "mean"
%3 float32 scalar "epsilon" = [0.125]
%4 float32 1x2x1 "sum"
%5 float32 1x2x1 "rsqrt"
%6 float32 1x2x4 "normalized"
%7 float32 4 "weight" = [1.0, 2.0, 3.0, 4.0]
%8 float32 1x2x4 "y"
%1 = multiply(%0, %0) "squares"
%2 = reduce_mean(%1) "mean" {axes [2], keep 1}
%4 = add(%2, %3) "sum"
%5 = rsqrt(%4) "rsqrt"
%6 = multiply(%0, %5) "normalized"
%8 = multiply(%7, %6) "y"
)";

const std::string gelu_values = R"(graph "g"
inputs %0
outputs %9
%0 float32 1x4 "x"
%1 float32 scalar "half" = [0.5]
%2 float32 scalar "one" = [1.0]
%3 float32 scalar "root" = [1.4142135]
%4 float32 1 "root_of_half" = [0.70710677]
%5 float32 1x4 "a"
%6 float32 1x4 "b"
%7 float32 1x4 "c"
%8 float32 1x4 "d"
%9 float32 1x4 "y"
)";
const std::string torch_gelu = gelu_values + R"(%5 = divide(%0, %3) "a"
%6 = erf(%5) "b"
%7 = add(%6, %2) "c"
%8 = multiply(%0, %7) "d"
%9 = multiply(%8, %1) "y"
)";

const std::string written_gelu_tanh = R"(graph "g"
inputs %0
outputs %13
%0 float32 1x4 "x"
%1 float32 scalar "three" = [3.0]
%2 float32 1x4 "cube"
%3 float32 scalar "cubic" = [0.044715]
%4 float32 1x4 "part"
%5 float32 1x4 "sum"
%6 float32 scalar "root" = [0.7978846]
%7 float32 1x4 "inner"
%8 float32 1x4 "tanh"
%9 float32 scalar "one" = [1.0]
%10 float32 1x4 "both"
%11 float32 scalar "half" = [0.5]
%12 float32 1x4 "share"
%13 float32 1x4 "y"
%2 = power(%0, %1) "cube"
%4 = multiply(%3, %2) "part"
%5 = add(%0, %4) "sum"
%7 = multiply(%6, %5) "inner"
%8 = tanh(%7) "tanh"
%10 = add(%9, %8) "both"
%12 = multiply(%11, %10) "share"
%13 = multiply(%0, %12) "y"
)";

const std::string written_swish = R"(graph "g"
inputs %0
outputs %2
%0 float32 1x4 "x"
%1 float32 1x4 "s"
%2 float32 1x4 "y"
%1 = sigmoid(%0) "s"
%2 = multiply(%0, %1) "y"
)";

const std::string written_softmax = R"(graph "g"
inputs %0
outputs %5
%0 float32 1x2x4 "x"
%1 float32 1x1x4 "largest"
%2 float32 1x2x4 "difference"
%3 float32 1x2x4 "power"
%4 float32 1x1x4 "sum"
%5 float32 1x2x4 "y"
%1 = reduce_max(%0) "largest" {axes [1], keep 1}
%2 = subtract(%0, %1) "difference"
%3 = exp(%2) "power"
%4 = reduce_sum(%3) "sum" {axes [1], keep 1}
%5 = divide(%3, %4) "y"
)";

}  // namespace

TEST_CASE("The nodes of a layer normalization become one, with the name of the last",
          "[compiler][passes][recognize]") {
    CHECK(recognized(torch_layer_normalization) == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2x4 "x"
%1 float32 4 "weight" = [1.0, 2.0, 3.0, 4.0]
%2 float32 1x2x4 "/norm/Add_1"
%3 float32 4 "bias" = [0.0, 0.5, 0.25, -1.0]
%2 = layer_normalization(%0, %1, %3) "/norm/Add_1" {epsilon 0.125}
)");
    CHECK(recognized(batch_layer_normalization) == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x2x4 "x"
%1 float32 1x2x4 "y"
%2 float32 4 "gamma" = [1.0, 2.0, 3.0, 4.0]
%3 float32 4 "beta" = [0.0, 0.5, 0.25, -1.0]
%1 = layer_normalization(%0, %2, %3) "y" {epsilon 0.125}
)");
    // Also before a scale for each channel becomes a batch normalization.
    CHECK(passes::tests::kinds(passes::simplify(written(torch_layer_normalization))) ==
          "input layer_normalization ");
}

TEST_CASE("A layer normalization with an offset alone gets a scale of ones",
          "[compiler][passes][recognize]") {
    CHECK(recognized(R"(graph "g"
inputs %0
outputs %8
%0 float32 1x2x3x1 "x"
%1 float32 1x2x1x1 "mean"
%2 float32 1x2x3x1 "difference"
%3 float32 1x2x3x1 "squares"
%4 float32 1x2x1x1 "variance"
%5 float32 1 "epsilon" = [0.125]
%6 float32 1x2x1x1 "sum"
%7 float32 1x2x3x1 "normalized"
%8 float32 1x2x3x1 "y"
%9 float32 1x2x1x1 "rsqrt"
%10 float32 3x1 "beta" = [0.0, 0.5, 0.25]
%1 = reduce_mean(%0) "mean" {axes [2, 3], keep 1}
%2 = subtract(%0, %1) "difference"
%3 = square(%2) "squares"
%4 = reduce_mean(%3) "variance" {axes [2, 3], keep 1}
%6 = add(%5, %4) "sum"
%9 = rsqrt(%6) "rsqrt"
%7 = multiply(%9, %2) "normalized"
%8 = add(%10, %7) "y"
)") == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x2x3x1 "x"
%1 float32 1x2x3x1 "y"
%2 float32 3x1 "beta" = [0.0, 0.5, 0.25]
%3 float32 3x1 "y/scale" = [1.0, 1.0, 1.0]
%1 = layer_normalization(%0, %3, %2) "y" {axis 2, epsilon 0.125}
)");
}

TEST_CASE("A layer normalization ends before what is no parameter, and at what others read",
          "[compiler][passes][recognize]") {
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "4 \"weight\" = [1.0, 2.0, 3.0, 4.0]",
                                       "2x1 \"weight\" = [1.0, 2.0]")) ==
          "input layer_normalization multiply add ");
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "add(%11, %13)", "add(%11, %0)")) ==
          "input layer_normalization add ");
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "outputs %12", "outputs %12, %9")) ==
          "input layer_normalization multiply add ");
    // A parameter may be unknown: the network can still be timed.
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "[0.0, 0.5, 0.25, -1.0]", "unknown")) ==
          "input layer_normalization ");
}

TEST_CASE("What is nearly a layer normalization stays", "[compiler][passes][recognize]") {
    const auto check_changed = [](const std::string& part, const std::string& by) {
        INFO(part << " became " << by);
        check_stays(with_change(torch_layer_normalization, part, by));
    };
    check_changed("outputs %12", "outputs %12, %8");
    check_changed("[2.0]", "[2.5]");
    check_changed("divide(%2, %8)", "divide(%0, %8)");
    check_changed("divide(%2, %8)", "divide(%8, %2)");
    check_changed("power(%2, %3)", "power(%0, %3)");
    check_changed("sqrt(%7)", "exp(%7)");
    check_changed("add(%5, %6)", "multiply(%5, %6)");
    check_changed("\"epsilon\" = [0.125]", "\"epsilon\" = [-0.125]");
    check_changed("\"epsilon\" = [0.125]", "\"epsilon\" = unknown");
    // Deviations along other axes than the mean's; then both along an axis that is not the last one.
    std::string axes = torch_layer_normalization;
    for (const std::string value : {"%5", "%7", "%8"}) {
        axes = with_change(axes, value + " float32 1x2x1", value + " float32 1x1x4");
    }
    axes = with_change(axes, "\"variance\" {axes [2]", "\"variance\" {axes [1]");
    check_stays(axes);
    axes = with_change(axes, "%1 float32 1x2x1", "%1 float32 1x1x4");
    check_stays(with_change(axes, "\"mean\" {axes [2]", "\"mean\" {axes [1]"));
    const auto check_batch_changed = [](const std::string& part, const std::string& by) {
        INFO(part << " became " << by);
        check_stays(with_change(batch_layer_normalization, part, by));
    };
    check_batch_changed("subtract(%13, %10)", "subtract(%10, %13)");
    check_batch_changed("multiply(%1, %8)", "multiply(%3, %8)");
    check_batch_changed("outputs %12", "outputs %12, %11");
}

TEST_CASE("Where others read a difference from the mean, it has an RMS normalization",
          "[compiler][passes][recognize]") {
    const std::string part = "input reduce_mean subtract rms_normalization add ";
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "outputs %12", "outputs %12, %1")) == part);
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "add(%11, %13)", "add(%11, %2)")) == part);
    CHECK(recognized_kinds(with_change(torch_layer_normalization, "subtract(%0, %1)", "subtract(%1, %0)")) ==
          part);
}

TEST_CASE("The nodes of an RMS normalization become one", "[compiler][passes][recognize]") {
    CHECK(recognized(written_rms_normalization) == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2x4 "x"
%1 float32 4 "weight" = [1.0, 2.0, 3.0, 4.0]
%2 float32 1x2x4 "y"
%2 = rms_normalization(%0, %1) "y" {epsilon 0.125}
)");
    check_stays(with_change(written_rms_normalization, "multiply(%0, %0)", "multiply(%0, %7)"));
    check_stays(with_change(written_rms_normalization, "multiply(%0, %5)", "multiply(%1, %5)"));
    check_stays(with_change(written_rms_normalization, "outputs %8", "outputs %8, %1"));
}

TEST_CASE("GELU is recognized with its factors in any order", "[compiler][passes][recognize]") {
    const std::string gelu = R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x4 "x"
%1 float32 1x4 "y"
%1 = gelu(%0) "y"
)";
    CHECK(recognized(torch_gelu) == gelu);
    const std::string end = "%8 = multiply(%0, %7) \"d\"\n%9 = multiply(%8, %1) \"y\"\n";
    for (const std::string other : {"%8 = multiply(%1, %7) \"d\"\n%9 = multiply(%0, %8) \"y\"\n",
                                    "%8 = multiply(%1, %0) \"d\"\n%9 = multiply(%7, %8) \"y\"\n"}) {
        CHECK(recognized(with_change(torch_gelu, end, other)) == gelu);
    }
    CHECK(recognized(with_change(torch_gelu, "divide(%0, %3)", "multiply(%4, %0)")) == gelu);
    CHECK(recognized(with_change(torch_gelu, "add(%6, %2)", "add(%2, %6)")) == gelu);
    const std::string halved = with_change(torch_gelu, "multiply(%8, %1)", "divide(%8, %1)");
    CHECK(recognized(with_change(halved, "[0.5]", "[2.0]")) == gelu);
    check_stays(halved);
    check_stays(with_change(torch_gelu, "[0.5]", "[0.500001]"));
    check_stays(with_change(torch_gelu, "[1.4142135]", "[1.4142]"));
    check_stays(with_change(torch_gelu, "scalar \"half\" = [0.5]", "scalar \"half\" = unknown"));
    check_stays(with_change(torch_gelu, "multiply(%0, %7)", "multiply(%5, %7)"));
    check_stays(with_change(torch_gelu, "divide(%0, %3)", "divide(%3, %0)"));
    check_stays(with_change(torch_gelu, "outputs %9", "outputs %9, %6"));
    // A constant with more axes than x gives the result more.
    check_stays(with_change(with_change(torch_gelu, "scalar \"half\"", "1x1x1 \"half\""), "%9 float32 1x4",
                            "%9 float32 1x1x4"));
}

TEST_CASE("The approximation of GELU by tanh is recognized", "[compiler][passes][recognize]") {
    const std::string gelu_tanh = R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x4 "x"
%1 float32 1x4 "y"
%1 = gelu_tanh(%0) "y"
)";
    CHECK(recognized(written_gelu_tanh) == gelu_tanh);
    check_stays(with_change(written_gelu_tanh, "[0.044715]", "[0.0447]"));
    check_stays(with_change(written_gelu_tanh, "[3.0]", "[2.0]"));
    check_stays(with_change(written_gelu_tanh, "add(%0, %4)", "add(%2, %4)"));
}

TEST_CASE("x times sigmoid(x) is swish, and x times sigmoid of another number is not",
          "[compiler][passes][recognize]") {
    CHECK(recognized(written_swish) == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x4 "x"
%1 float32 1x4 "y"
%1 = swish(%0) "y"
)");
    check_stays(with_change(written_swish, "outputs %2", "outputs %2, %1"));
    check_stays(R"(graph "g"
inputs %0
outputs %4
%0 float32 1x4 "x"
%1 float32 scalar "factor" = [1.702]
%2 float32 1x4 "scaled"
%3 float32 1x4 "s"
%4 float32 1x4 "y"
%2 = multiply(%0, %1) "scaled"
%3 = sigmoid(%2) "s"
%4 = multiply(%0, %3) "y"
)");
}

TEST_CASE("Softmax and its logarithm are recognized along one axis", "[compiler][passes][recognize]") {
    CHECK(recognized(written_softmax) == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x2x4 "x"
%1 float32 1x2x4 "y"
%1 = softmax(%0) "y" {axis 1}
)");
    CHECK(recognized(R"(graph "g"
inputs %0
outputs %2
%0 float32 1x2x4 "x"
%1 float32 1x2x4 "s"
%2 float32 1x2x4 "y"
%1 = softmax(%0) "s"
%2 = log(%1) "y"
)") == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x2x4 "x"
%1 float32 1x2x4 "y"
%1 = log_softmax(%0) "y"
)");
    check_stays(with_change(written_softmax, "subtract(%0, %1)", "add(%0, %1)"));
    check_stays(with_change(written_softmax, "divide(%3, %4)", "divide(%2, %4)"));
    check_stays(with_change(written_softmax, "outputs %5", "outputs %5, %3"));
    check_stays(with_change(with_change(written_softmax, "%4 float32 1x1x4", "%4 float32 1x2x1"),
                            "\"sum\" {axes [1]", "\"sum\" {axes [2]"));
    const std::string both_axes =
        with_change(with_change(written_softmax, "%1 float32 1x1x4", "%1 float32 1x1x1"),
                    "\"largest\" {axes [1]", "\"largest\" {axes [1, 2]");
    check_stays(with_change(with_change(both_axes, "%4 float32 1x1x4", "%4 float32 1x1x1"),
                            "\"sum\" {axes [1]", "\"sum\" {axes [1, 2]"));
}

TEST_CASE("Groups of a quantized graph stay", "[compiler][passes][recognize]") {
    check_stays(R"(graph "g"
inputs %0
outputs %3
%0 int8 1x4 "x" scale 0.5 zero 0
%1 float32 1x4 "real"
%2 float32 1x4 "s"
%3 float32 1x4 "y"
%1 = dequantize(%0) "real"
%2 = sigmoid(%1) "s"
%3 = multiply(%1, %2) "y"
)");
}

namespace {

/// Writes a function of the input in one of the ways in which files do, with operands in any order.
class FunctionWriter {
public:
    /// A writer that makes mistakes writes wrong numbers, and makes inner values outputs.
    FunctionWriter(std::uint32_t seed, bool makes_mistakes)
        : random_(seed), makes_mistakes_(makes_mistakes) {}

    ir::Graph write(const std::string& op) {
        graph_ = {};
        graph_.name = op;
        std::vector<std::uint32_t> extents(between(2, 4), 1);
        for (std::size_t i = 1; i < extents.size(); ++i) extents[i] = between(1, 5);
        x_ = graph_.add_input("x", ir::Shape(extents));
        axis_ = between(1, static_cast<std::uint32_t>(extents.size()) - 1);
        graph_.outputs = {result(op)};
        if (makes_mistakes_ && graph_.nodes.size() > 1 && one_in(2)) {
            const std::uint32_t last_inner = static_cast<std::uint32_t>(graph_.nodes.size()) - 2;
            graph_.outputs.push_back(graph_.nodes[between(0, last_inner)].output());
        }
        return std::move(graph_);
    }

    std::vector<float> numbers(std::uint64_t count, float low, float high) {
        std::uniform_real_distribution<float> distribution(low, high);
        std::vector<float> drawn(count);
        for (float& number : drawn) number = distribution(random_);
        return drawn;
    }

private:
    using ValueId = ir::ValueId;

    std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
    }
    bool one_in(std::uint32_t n) { return between(1, n) == 1; }

    ValueId node(const std::string& op, std::vector<ValueId> inputs,
                 std::vector<ir::NamedAttribute> attributes = {}) {
        return graph_.append(fmt::format("n{}", graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs));
    }
    /// A node with its two operands in any order.
    ValueId either(const std::string& op, ValueId a, ValueId b) {
        if (one_in(2)) std::swap(a, b);
        return node(op, {a, b});
    }
    ValueId number(double value) {
        if (makes_mistakes_ && one_in(6)) value *= 1.25;
        const ir::Shape shape = one_in(2) ? ir::Shape{} : ir::Shape{1};
        return graph_.add_constant(fmt::format("c{}", graph_.values.size()), shape, DataType::Float32,
                                   std::vector<float>{static_cast<float>(value)});
    }
    ValueId product(std::vector<ValueId> factors) {
        while (factors.size() > 1) {
            std::ranges::shuffle(factors, random_);
            const ValueId a = factors.back();
            factors.pop_back();
            factors.back() = node("multiply", {factors.back(), a});
        }
        return factors.front();
    }
    /// A product with a number, or the quotient by its inverse.
    ValueId times(ValueId x, double factor) {
        return one_in(2) ? either("multiply", x, number(factor)) : node("divide", {x, number(1.0 / factor)});
    }
    ValueId square(ValueId x) {
        const std::uint32_t way = between(1, 3);
        if (way == 1) return node("multiply", {x, x});
        return way == 2 ? node("square", {x}) : node("power", {x, number(2.0)});
    }
    ValueId negative(ValueId x) { return one_in(2) ? node("negative", {x}) : times(x, -1.0); }
    ValueId difference(ValueId a, ValueId b) {
        return one_in(2) ? node("subtract", {a, b}) : either("add", a, negative(b));
    }
    ValueId reduced(const std::string& op, ValueId x, const std::vector<std::int64_t>& axes) {
        return node(op, {x}, {{"axes", axes}, {"keep", std::int64_t{1}}});
    }
    std::vector<std::int64_t> last_axes() const {
        std::vector<std::int64_t> axes;
        for (std::size_t axis = axis_; axis < graph_.values[x_].shape.rank(); ++axis) {
            axes.push_back(static_cast<std::int64_t>(axis));
        }
        return axes;
    }
    ValueId parameter() {
        std::vector<std::uint32_t> extents;
        if (one_in(3)) extents.assign(axis_, 1);
        for (const std::int64_t axis : last_axes()) {
            extents.push_back(graph_.values[x_].shape[static_cast<std::size_t>(axis)]);
        }
        const ir::Shape shape(extents);
        return graph_.add_constant(fmt::format("p{}", graph_.values.size()), shape, DataType::Float32,
                                   numbers(shape.elements(), -2.0F, 2.0F));
    }
    ValueId inverse(ValueId x) {
        return one_in(2) ? node("reciprocal", {x}) : node("divide", {number(1.0), x});
    }
    ValueId inverse_root(ValueId x) {
        const std::uint32_t way = between(1, 3);
        if (way == 1) return node("rsqrt", {x});
        return way == 2 ? node("power", {x, number(-0.5)}) : inverse(root(x));
    }
    ValueId root(ValueId x) { return one_in(2) ? node("sqrt", {x}) : node("power", {x, number(0.5)}); }

    /// Numerators, divided by the root of the mean of squares.
    ValueId over_root(std::vector<ValueId> factors, ValueId squares) {
        const ValueId sum = either("add", reduced("reduce_mean", squares, last_axes()), number(0.01));
        if (one_in(2)) return node("divide", {product(std::move(factors)), root(sum)});
        factors.push_back(inverse_root(sum));
        return product(std::move(factors));
    }
    ValueId layer_normalization() {
        const bool has_scale = one_in(2);
        const bool has_offset = one_in(2);
        const ValueId mean = reduced("reduce_mean", x_, last_axes());
        if (one_in(3)) return batch_normalization(mean, has_scale, has_offset);
        const ValueId centered = difference(x_, mean);
        const ValueId squares = one_in(3) ? either("squared_difference", x_, mean)
                                          : square(one_in(2) ? centered : difference(x_, mean));
        std::vector<ValueId> factors{centered};
        if (has_scale) factors.push_back(parameter());
        const ValueId scaled = over_root(std::move(factors), squares);
        return has_offset ? either("add", scaled, parameter()) : scaled;
    }
    /// As TensorFlow writes it.
    ValueId batch_normalization(ValueId mean, bool has_scale, bool has_offset) {
        const ValueId variance = reduced("reduce_mean", either("squared_difference", x_, mean), last_axes());
        ValueId factor = inverse_root(either("add", variance, number(0.01)));
        if (has_scale) factor = either("multiply", factor, parameter());
        const ValueId moved = either("multiply", x_, factor);
        if (!has_offset && one_in(2)) return node("subtract", {moved, either("multiply", mean, factor)});
        if (has_offset && one_in(2)) {
            const ValueId shift = node("subtract", {parameter(), either("multiply", mean, factor)});
            return either("add", moved, shift);
        }
        ValueId shift = either("multiply", negative(mean), factor);
        if (has_offset) shift = either("add", shift, parameter());
        return either("add", moved, shift);
    }
    ValueId rms_normalization() {
        std::vector<ValueId> factors{x_};
        if (one_in(2)) factors.push_back(parameter());
        return over_root(std::move(factors), square(x_));
    }
    /// x * share / 2, in which the share is 1 + another value.
    ValueId half_of(ValueId other) {
        const ValueId share = either("add", number(1.0), other);
        if (one_in(3)) return times(product({x_, share}), 0.5);
        return one_in(2) ? product({times(x_, 0.5), share}) : product({x_, share, number(0.5)});
    }
    ValueId gelu_tanh() {
        constexpr double cubic = 0.044715;
        constexpr double root_of_two_over_pi = 0.7978845608;
        if (one_in(3)) {
            const ValueId sum = either("add", number(1.0), times(square(x_), cubic));
            return half_of(node("tanh", {product({number(root_of_two_over_pi), x_, sum})}));
        }
        const std::uint32_t way = between(1, 3);
        const ValueId cube = way == 1   ? times(node("power", {x_, number(3.0)}), cubic)
                             : way == 2 ? product({x_, x_, x_, number(cubic)})
                                        : product({square(x_), x_, number(cubic)});
        return half_of(node("tanh", {times(either("add", x_, cube), root_of_two_over_pi)}));
    }
    ValueId swish() {
        if (one_in(2)) return either("multiply", x_, node("sigmoid", {x_}));
        const ValueId sum = either("add", number(1.0), node("exp", {negative(x_)}));
        return one_in(2) ? node("divide", {x_, sum}) : either("multiply", x_, inverse(sum));
    }
    ValueId softmax() {
        const std::vector<std::int64_t> axes{static_cast<std::int64_t>(axis_)};
        const ValueId power = node("exp", {difference(x_, reduced("reduce_max", x_, axes))});
        const ValueId sum = reduced("reduce_sum", power, axes);
        return one_in(2) ? node("divide", {power, sum}) : either("multiply", power, inverse(sum));
    }
    ValueId log_softmax() {
        if (one_in(3)) return node("log", {softmax()});
        if (one_in(2)) {
            return node("log", {node("softmax", {x_}, {{"axis", static_cast<std::int64_t>(axis_)}})});
        }
        const std::vector<std::int64_t> axes{static_cast<std::int64_t>(axis_)};
        const ValueId below = difference(x_, reduced("reduce_max", x_, axes));
        return difference(below, node("log", {reduced("reduce_sum", node("exp", {below}), axes)}));
    }

    ValueId result(const std::string& op) {
        if (op == "layer_normalization") return layer_normalization();
        if (op == "rms_normalization") return rms_normalization();
        if (op == "gelu") return half_of(node("erf", {times(x_, std::sqrt(0.5))}));
        if (op == "gelu_tanh") return gelu_tanh();
        if (op == "swish") return swish();
        return op == "softmax" ? softmax() : log_softmax();
    }

    std::mt19937 random_;
    bool makes_mistakes_;
    ir::Graph graph_;
    ValueId x_ = 0;
    std::uint32_t axis_ = 0;  ///< of softmax, or the first one that is normalized
};

constexpr std::uint32_t recognition_batch = 2;

/// The largest difference of the outputs of a graph and of what the pass makes of it. What is no number must
/// stay none.
double recognition_difference(const ir::Graph& graph, const ir::Graph& after,
                              const std::vector<float>& input) {
    const std::vector<std::span<const float>> inputs{input};
    const auto expected = reference::execute(graph, inputs, recognition_batch);
    const auto outputs = reference::execute(after, inputs, recognition_batch);
    REQUIRE(expected.size() == outputs.size());
    double worst = 0.0;
    for (std::size_t output = 0; output < outputs.size(); ++output) {
        REQUIRE(expected[output].size() == outputs[output].size());
        for (std::size_t i = 0; i < outputs[output].size(); ++i) {
            const float a = expected[output][i];
            const float b = outputs[output][i];
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            const double difference = std::abs(double{a} - double{b});
            if (!(difference <= worst)) worst = difference;
        }
    }
    return worst;
}

}  // namespace

TEST_CASE("Functions in all forms become their operator and keep their results",
          "[compiler][passes][recognize]") {
    constexpr std::uint32_t first_seed = 83001;
    constexpr double rounding = 2e-4;
    const std::vector<std::string> ops{
        "layer_normalization", "rms_normalization", "gelu", "gelu_tanh", "swish", "softmax", "log_softmax"};
    std::map<std::string, std::uint32_t> nodes_left;  // of graphs with mistakes
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(2000); ++seed) {
        const std::string& op = ops[seed % ops.size()];
        const bool makes_mistakes = seed % 3 == 0;
        FunctionWriter writer(seed, makes_mistakes);
        const ir::Graph graph = writer.write(op);
        const std::vector<float> input = writer.numbers(
            recognition_batch * graph.values[graph.inputs.front()].shape.elements(), -3.0F, 3.0F);
        const ir::Graph after = passes::recognize_operators(graph);
        INFO("seed " << seed << "\n" << ir::to_text(graph) << "\nafter:\n" << ir::to_text(after));
        REQUIRE(ir::find_fault(after).value_or("") == "");
        REQUIRE(recognition_difference(graph, after, input) < rounding);
        if (makes_mistakes) {
            nodes_left[op] += static_cast<std::uint32_t>(after.nodes.size()) - 1;
        } else {
            REQUIRE(passes::tests::kinds(after) == "input " + op + " ");
        }
    }
    // Not all mistakes are met in a short run.
    for (const std::string& op : ops) CHECK(nodes_left[op] >= tests::random_share(1));
}

// The passes for networks from ONNX files, from text to text.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/absorb_border_conversions.h"
#include "compiler/passes/fold_qdq.h"
#include "compiler/passes/move_transposes.h"
#include "compiler/passes/pass_manager.h"

using namespace systole;

namespace {

std::string text_after(const passes::PassManager::Transformation& pass, const std::string& text) {
    const ir::Graph graph = ir::parse_graph(text.substr(1), "test", operators::registry());
    ir::verify(graph, "the test");
    const ir::Graph result = pass(graph);
    ir::verify(result, "the pass");
    return "\n" + ir::to_text(result);
}

}  // namespace

TEST_CASE(
    "move_transposes cancels transpositions across element-wise work, and inputs and outputs take the "
    "others",
    "[compiler][passes]") {
    // Channels first outside, channels last inside; the sum has a constant for each channel.
    CHECK(text_after(passes::move_transposes, R"(
graph "g"
inputs %0
outputs %9
%0 float32 1x2x1x3 "in"
%1 float32 1x1x3x2 "p/in"
%2 float32 1x1x3x2 "p"
%3 float32 1x2x1x3 "p/out"
%4 float32 1x2x1x3 "r"
%5 float32 1x2x1x3 "s"
%6 float32 1x1x3x2 "q/in"
%7 float32 1x1x3x2 "q"
%8 float32 1x2x1x3 "q/out"
%9 float32 1x2x1x3 "out"
%1 = transpose(%0) "p/in" {permutation [0, 2, 3, 1]}
%2 = max_pool(%1) "p" {kernel [1, 1]}
%3 = transpose(%2) "p/out" {permutation [0, 3, 1, 2]}
%4 = relu(%3) "r"
%5 = add(%4, %3) "s"
%6 = transpose(%5) "q/in" {permutation [0, 2, 3, 1]}
%7 = max_pool(%6) "q"
%8 = transpose(%7) "q/out" {permutation [0, 3, 1, 2]}
%9 = relu(%8) "out"
)") == R"(
graph "g"
inputs %0
outputs %5
%0 float32 1x1x3x2 "in" axes [0, 3, 1, 2]
%1 float32 1x1x3x2 "p"
%2 float32 1x1x3x2 "r"
%3 float32 1x1x3x2 "s"
%4 float32 1x1x3x2 "q"
%5 float32 1x1x3x2 "out" axes [0, 3, 1, 2]
%1 = max_pool(%0) "p"
%2 = relu(%1) "r"
%3 = add(%2, %1) "s"
%4 = max_pool(%3) "q"
%5 = relu(%4) "out"
)");
}

TEST_CASE("move_transposes orders the rows of dense weights as the image lies", "[compiler][passes]") {
    CHECK(text_after(passes::move_transposes, R"(
graph "g"
inputs %0
outputs %4
%0 float32 1x1x2x2 "in"
%1 float32 1x2x1x2 "t"
%2 float32 1x4 "f"
%3 float32 4x1 "w" = [1.0, 2.0, 3.0, 4.0]
%4 float32 1x1 "d"
%1 = transpose(%0) "t" {permutation [0, 3, 1, 2]}
%2 = reshape(%1) "f" {shape [1, 4]}
%4 = dense(%2, %3) "d"
)") == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x1x2x2 "in"
%1 float32 4x1 "w" = [1.0, 3.0, 2.0, 4.0]
%2 float32 1x1 "d"
%2 = dense(%0, %1) "d"
)");
}

TEST_CASE("move_transposes leaves the table of a lookup as it is", "[compiler][passes]") {
    std::string table;
    for (int i = 0; i < 256; ++i) table += fmt::format("{:02x}", 255 - i);
    const std::string constant = R"(%1 uint8 256 "table" = bytes )" + table + "\n";
    // From before the lookup to behind it, and from behind it to before it.
    CHECK(text_after(passes::move_transposes, R"(
graph "g"
inputs %0
outputs %3
%0 uint8 1x2x3 "in" scale 0.5 zero 3
)" + constant + R"(%2 uint8 1x3x2 "t" scale 0.5 zero 3
%3 uint8 1x3x2 "l" scale 0.5 zero 3
%2 = transpose(%0) "t" {permutation [0, 2, 1]}
%3 = lookup(%2, %1) "l"
)") == R"(
graph "g"
inputs %0
outputs %2
%0 uint8 1x2x3 "in" scale 0.5 zero 3
)" + constant +
              R"(%2 uint8 1x2x3 "l" axes [0, 2, 1] scale 0.5 zero 3
%2 = lookup(%0, %1) "l"
)");
    CHECK(text_after(passes::move_transposes, R"(
graph "g"
inputs %0
outputs %4
%0 uint8 1x2x3 "in" scale 0.5 zero 3
)" + constant + R"(%2 uint8 1x2x3 "l" scale 0.5 zero 3
%3 uint8 1x3x2 "t" scale 0.5 zero 3
%4 uint8 1x1x3x2 "p" scale 0.5 zero 3
%2 = lookup(%0, %1) "l"
%3 = transpose(%2) "t" {permutation [0, 2, 1]}
%4 = max_pool(%3) "p"
)") == R"(
graph "g"
inputs %0
outputs %3
%0 uint8 1x3x2 "in" axes [0, 2, 1] scale 0.5 zero 3
)" + constant +
              R"(%2 uint8 1x3x2 "l" scale 0.5 zero 3
%3 uint8 1x1x3x2 "p" scale 0.5 zero 3
%2 = lookup(%0, %1) "l"
%3 = max_pool(%2) "p"
)");
}

TEST_CASE(
    "move_transposes turns a transposition that moves nothing into a reshape, and keeps one that must "
    "be",
    "[compiler][passes]") {
    const std::string text = R"(
graph "g"
inputs %0
outputs %2, %4
%0 float32 1x1x1x4 "in"
%1 float32 1x4x1x1 "t"
%2 float32 1x4 "f"
%3 float32 1x4x1x1 "r"
%4 float32 1x2x2 "square"
%1 = transpose(%0) "t" {permutation [0, 3, 1, 2]}
%2 = reshape(%1) "f" {shape [1, 4]}
%3 = relu(%1) "r"
%4 = reshape(%3) "square" {shape [1, 2, 2]}
)";
    const std::string result = text_after(passes::move_transposes, text);
    INFO(result);
    CHECK(result.find("transpose") == std::string::npos);
}

TEST_CASE("fold_qdq turns a convolution and its ReLU between scales into one on integers",
          "[compiler][passes]") {
    // 5 / (0.5 * 0.25) = 40; the limit 6 is 3 + 6 / 1.
    CHECK(text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %6
%0 uint8 1x1x2x1 "in" scale 0.5 zero 3
%1 float32 1x1x2x1 "d"
%2 float32 1x1x1x2 "w" axis 3 scales [0.25, 0.5] zeros [0, 0] = [-1.0, 2.0]
%3 float32 2 "b" = [5.0, -5.0]
%4 float32 1x1x2x2 "c"
%5 float32 1x1x2x2 "r"
%6 uint8 1x1x2x2 "q" scale 1.0 zero 3
%1 = dequantize(%0) "d"
%4 = convolution(%1, %2, %3) "c"
%5 = relu(%4) "r" {maximum 6.0}
%6 = quantize(%5) "q" {half_to_even 1}
)") == R"(
graph "g"
inputs %0
outputs %1
%0 uint8 1x1x2x1 "in" scale 0.5 zero 3
%1 uint8 1x1x2x2 "q" scale 1.0 zero 3
%2 int8 1x1x1x2 "w" axis 3 scales [0.25, 0.5] zeros [0, 0] = [-4, 4]
%3 int32 2 "b" = [40, -20]
%1 = convolution(%0, %2, %3) "c" {clamp [3, 9], rounding "half_to_even"}
)");
}

TEST_CASE("fold_qdq moves integers where real numbers were only moved, and drops pairs that cancel",
          "[compiler][passes]") {
    CHECK(text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %5
%0 uint8 1x1x2x1 "in" scale 0.5 zero 3
%1 float32 1x1x2x1 "d"
%2 float32 1x2 "f"
%3 uint8 1x2 "q" scale 0.5 zero 3
%4 float32 1x2 "e"
%5 float32 1x2 "s"
%1 = dequantize(%0) "d"
%2 = reshape(%1) "f" {shape [1, 2]}
%3 = quantize(%2) "q" {half_to_even 1}
%4 = dequantize(%3) "e"
%5 = softmax(%4) "s"
)") == R"(
graph "g"
inputs %0
outputs %2
%0 uint8 1x1x2x1 "in" scale 0.5 zero 3
%1 float32 1x2 "e"
%2 float32 1x2 "s"
%3 uint8 1x2 "f" scale 0.5 zero 3
%3 = reshape(%0) "f" {shape [1, 2]}
%1 = dequantize(%3) "e"
%2 = softmax(%1) "s"
)");
}

TEST_CASE("fold_qdq moves integers through a padding with zeros alone", "[compiler][passes]") {
    const auto padded_with = [](const std::string& value) {
        return text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %3
%0 uint8 1x2 "in" scale 0.5 zero 3
%1 float32 1x2 "d"
%2 float32 1x4 "p"
%3 float32 1x4 "s"
%1 = dequantize(%0) "d"
%2 = pad(%1) "p" {before [0, 1], after [0, 1], value )" +
                                                value + R"(}
%3 = softmax(%2) "s"
)");
    };
    CHECK_THAT(padded_with("0.0"), Catch::Contains("= pad(%0)"));
    CHECK_THAT(padded_with("1.3"), Catch::Contains("= pad(%1)"));
    CHECK_THAT(padded_with("-1.3"), Catch::Contains("= pad(%1)"));
}

TEST_CASE("fold_qdq makes functions between scales lookups and averages convolutions", "[compiler][passes]") {
    const std::string lookup = text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %3
%0 int8 1x2 "in" scale 0.5 zero 0
%1 float32 1x2 "d"
%2 float32 1x2 "t"
%3 int8 1x2 "q" scale 0.01 zero 0
%1 = dequantize(%0) "d"
%2 = tanh(%1) "t"
%3 = quantize(%2) "q" {half_to_even 1}
)");
    INFO(lookup);
    CHECK(lookup.find("lookup(%0, ") != std::string::npos);
    CHECK(lookup.find("tanh") == std::string::npos);

    CHECK(text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %3
%0 uint8 1x1x4x1 "in" scale 0.5 zero 3
%1 float32 1x1x4x1 "d"
%2 float32 1x1x1x1 "a"
%3 uint8 1x1x1x1 "q" scale 0.125 zero 0
%1 = dequantize(%0) "d"
%2 = average_pool(%1) "a" {kernel [1, 4]}
%3 = quantize(%2) "q" {half_to_even 1}
)") == R"(
graph "g"
inputs %0
outputs %1
%0 uint8 1x1x4x1 "in" scale 0.5 zero 3
%1 uint8 1x1x1x1 "q" scale 0.125 zero 0
%2 int8 1x4x1x1 "a/weights" scale 0.25 zero 0 = [1, 1, 1, 1]
%1 = depthwise_convolution(%0, %2) "a" {kernel [1, 4], rounding "half_to_even", real_multiplier 1}
)");
}

TEST_CASE("fold_qdq stores an average before it is moved", "[compiler][passes]") {
    const std::string text = text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %4
%0 uint8 1x2x1x2 "in" scale 0.5 zero 3
%1 float32 1x2x1x2 "d"
%2 float32 1x1x1x2 "p"
%3 float32 1x2x1x1 "first"
%4 uint8 1x2x1x1 "q" scale 0.25 zero 3
%1 = dequantize(%0) "d"
%2 = average_pool(%1) "p" {kernel [2, 1]}
%3 = reshape(%2) "first" {shape [1, 2, 1, 1]}
%4 = quantize(%3) "q" {half_to_even 1}
)");
    INFO(text);
    CHECK(text.find("quantize") == std::string::npos);
    CHECK(text.find("uint8 1x1x1x2 \"p\" scale 0.25 zero 3") != std::string::npos);
    CHECK(text.find("%1 = reshape(") != std::string::npos);
    // Without a conversion, the integers themselves are moved.
    CHECK(text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %3
%0 uint8 1x4 "in" scale 0.5 zero 3
%1 float32 1x4 "d"
%2 float32 1x2x2 "s"
%3 uint8 1x2x2 "q" scale 0.25 zero 3
%1 = dequantize(%0) "d"
%2 = reshape(%1) "s" {shape [1, 2, 2]}
%3 = quantize(%2) "q" {half_to_even 1}
)")
              .find("lookup(") != std::string::npos);
}

TEST_CASE("fold_qdq leaves weights that are no integers any more on floats", "[compiler][passes]") {
    // 0.3 is no multiple of 0.25.
    const std::string text = text_after(passes::fold_qdq, R"(
graph "g"
inputs %0
outputs %4
%0 uint8 1x1x2x1 "in" scale 0.5 zero 3
%1 float32 1x1x2x1 "d"
%2 float32 1x1x1x1 "w" scale 0.25 zero 0 = [0.3]
%3 float32 1x1x2x1 "c"
%4 uint8 1x1x2x1 "q" scale 1.0 zero 3
%1 = dequantize(%0) "d"
%3 = convolution(%1, %2) "c"
%4 = quantize(%3) "q" {half_to_even 1}
)");
    CHECK(text.find("int8 1x1x1x1") == std::string::npos);
    CHECK(text.find("float32 1x1x1x1 \"w\"") != std::string::npos);
}

TEST_CASE("fold_qdq converts what is concatenated to the scale of the result", "[compiler][passes]") {
    const std::string text = text_after(passes::fold_qdq, R"(
graph "g"
inputs %0, %1
outputs %5
%0 int8 1x1x1x1 "a" scale 0.5 zero 0
%1 int8 1x1x1x1 "b" scale 0.25 zero 0
%2 float32 1x1x1x1 "da"
%3 float32 1x1x1x1 "db"
%4 float32 1x1x1x2 "c"
%5 int8 1x1x1x2 "q" scale 0.5 zero 0
%2 = dequantize(%0) "da"
%3 = dequantize(%1) "db"
%4 = concat(%2, %3) "c"
%5 = quantize(%4) "q" {half_to_even 1}
)");
    INFO(text);
    CHECK(text.find("lookup(%1, ") != std::string::npos);
    CHECK(text.find("lookup(%0, ") == std::string::npos);
    CHECK(text.find("concat(%0, ") != std::string::npos);
    CHECK(text.find("quantize") == std::string::npos);
}

TEST_CASE("fold_qdq leaves float work of other formats alone", "[compiler][passes]") {
    const std::string text = R"(
graph "g"
inputs %0
outputs %4
%0 uint8 1x1x2x1 "in" scale 0.5 zero 3
%1 float32 1x1x2x1 "d"
%2 float32 1x1x1x2 "w" axis 3 scales [0.25, 0.5] zeros [0, 0] = [-1.0, 2.0]
%3 float32 1x1x2x2 "c"
%4 uint8 1x1x2x2 "q" scale 1.0 zero 3
%1 = dequantize(%0) "d"
%3 = convolution(%1, %2) "c"
%4 = quantize(%3) "q"
)";
    CHECK(text_after(passes::fold_qdq, text) == text);
}

TEST_CASE("absorb_border_conversions lets inputs and outputs be integers", "[compiler][passes]") {
    CHECK(text_after(passes::absorb_border_conversions, R"(
graph "g"
inputs %0
outputs %3
%0 float32 1x2 "in"
%1 uint8 1x2 "q" scale 0.5 zero 3
%2 uint8 1x2 "i" scale 0.5 zero 3
%3 float32 1x2 "out"
%1 = quantize(%0) "q"
%2 = identity(%1) "i"
%3 = dequantize(%2) "e"
)") == R"(
graph "g"
inputs %0
outputs %1
%0 uint8 1x2 "in" scale 0.5 zero 3 conversion half_away
%1 uint8 1x2 "out" scale 0.5 zero 3
%1 = identity(%0) "i"
)");
}

TEST_CASE("absorb_border_conversions keeps how the file rounds", "[compiler][passes]") {
    const std::string text = text_after(passes::absorb_border_conversions, R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2 "in"
%1 int8 1x2 "q" scale 0.5 zero 3
%2 int8 1x2 "i" scale 0.5 zero 3
%1 = quantize(%0) "q" {half_to_even 1}
%2 = identity(%1) "i"
)");
    CHECK(text == R"(
graph "g"
inputs %0
outputs %1
%0 int8 1x2 "in" scale 0.5 zero 3 conversion half_to_even
%1 int8 1x2 "i" scale 0.5 zero 3
%1 = identity(%0) "i"
)");
}

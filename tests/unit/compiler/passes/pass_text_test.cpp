// Each pass from text to text.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/fold_padding.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/remove_identities.h"
#include "compiler/passes/unite_ranges.h"

using namespace systole;

namespace {

ir::Graph read(const std::string& text) {
    return ir::parse_graph(text, "test", operators::registry());
}

std::string after(const passes::PassManager::Transformation& pass, const std::string& text) {
    return "\n" + ir::to_text(pass(read(text.starts_with('\n') ? text.substr(1) : text)));
}

}  // namespace

TEST_CASE("remove_identities removes nodes that change no value, and reshapes the input itself",
          "[compiler][passes]") {
    CHECK(after(passes::remove_identities, R"(graph "g"
inputs %0
outputs %6
%0 float32 1x4 "in"
%1 float32 1x2x2x1 "image"
%2 float32 1x2x2x1 "linear" stored int16
%3 float32 1x2x2x1 "r"
%4 float32 1x4 "flat"
%5 float32 4x1 "d/kernel" = [1.0, 2.0, 3.0, 4.0]
%6 float32 1x1 "d"
%1 = reshape(%0) "image" {shape [1, 2, 2, 1]}
%2 = identity(%1) "linear"
%3 = relu(%2) "r"
%4 = reshape(%3) "flat" {shape [1, 4]}
%6 = dense(%4, %5) "d"
)") == R"(
graph "g"
inputs %0
outputs %3
%0 float32 1x2x2x1 "in" stored int16
%1 float32 1x2x2x1 "r"
%2 float32 4x1 "d/kernel" = [1.0, 2.0, 3.0, 4.0]
%3 float32 1x1 "d"
%1 = relu(%0) "r"
%3 = dense(%1, %2) "d"
)");
}

TEST_CASE("fold_batch_normalization scales the weights before it and gives them a bias",
          "[compiler][passes]") {
    const std::string text = R"(graph "g"
inputs %0
outputs %7
%0 float32 1x2 "in"
%1 float32 2x2 "d/kernel" = [1.0, 2.0, 3.0, 4.0]
%2 float32 1x2 "d"
%3 float32 2 "n/gamma" = [2.0, 0.5]
%4 float32 2 "n/beta" = [1.0, -1.0]
%5 float32 2 "n/mean" = [0.0, 2.0]
%6 float32 2 "n/variance" = [1.0, 1.0]
%7 float32 1x2 "n"
%2 = dense(%0, %1) "d"
%7 = batch_normalization(%2, %3, %4, %5, %6) "n" {epsilon 0.0}
)";
    CHECK(after(passes::fold_batch_normalization, text) == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x2 "in"
%1 float32 1x2 "d"
%2 float32 2x2 "d/kernel" = [2.0, 1.0, 6.0, 2.0]
%3 float32 2 "d/bias" = [1.0, -2.0]
%1 = dense(%0, %2, %3) "d"
)");
    // Weights that are not known stay so.
    CHECK(after(passes::fold_batch_normalization, ir::to_text(passes::drop_weights(read(text)))) == R"(
graph "g" without weights
inputs %0
outputs %1
%0 float32 1x2 "in"
%1 float32 1x2 "d"
%2 float32 2x2 "d/kernel" = unknown
%3 float32 2 "d/bias" = unknown
%1 = dense(%0, %2, %3) "d"
)");
}

TEST_CASE("fold_batch_normalization makes a 1x1 convolution if no layer comes before it",
          "[compiler][passes]") {
    CHECK(after(passes::fold_batch_normalization, R"(graph "g"
inputs %0
outputs %5
%0 float32 1x2x1x2 "in"
%1 float32 2 "n/gamma" = [2.0, 0.5]
%2 float32 2 "n/beta" = [1.0, -1.0]
%3 float32 2 "n/mean" = [0.0, 2.0]
%4 float32 2 "n/variance" = [1.0, 1.0]
%5 float32 1x2x1x2 "n"
%5 = batch_normalization(%0, %1, %2, %3, %4) "n" {epsilon 0.0}
)") == R"(
graph "g"
inputs %0
outputs %1
%0 float32 1x2x1x2 "in"
%1 float32 1x2x1x2 "n"
%2 float32 1x1x1x2 "n/scale" = [2.0, 0.5]
%3 float32 2 "n/offset" = [1.0, -2.0]
%1 = depthwise_convolution(%0, %2, %3) "n"
)");
}

TEST_CASE("fold_batch_normalization keeps the axes of a sequence", "[compiler][passes]") {
    // The softmax is along the two pixels.
    CHECK(after(passes::fold_batch_normalization, R"(graph "g"
inputs %0
outputs %6
%0 float32 1x2x2 "in"
%1 float32 2 "n/gamma" = [2.0, 0.5]
%2 float32 2 "n/beta" = [1.0, -1.0]
%3 float32 2 "n/mean" = [0.0, 2.0]
%4 float32 2 "n/variance" = [1.0, 1.0]
%5 float32 1x2x2 "n"
%6 float32 1x2x2 "s"
%5 = batch_normalization(%0, %1, %2, %3, %4) "n" {epsilon 0.0}
%6 = softmax(%5) "s" {axis 1}
)") == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2x2 "in"
%1 float32 1x2x2 "n"
%2 float32 1x2x2 "s"
%3 float32 1x1x1x2 "n/scale" = [2.0, 0.5]
%4 float32 2 "n/offset" = [1.0, -2.0]
%5 float32 1x1x2x2 "n"
%5 = depthwise_convolution(%0, %3, %4) "n"
%1 = reshape(%5) "n" {shape [1, 2, 2]}
%2 = softmax(%1) "s" {axis 1}
)");
}

TEST_CASE("fold_batch_normalization scales the weights of a matrix product with several rows",
          "[compiler][passes]") {
    CHECK(after(passes::fold_batch_normalization, R"(graph "g"
inputs %0
outputs %8
%0 float32 1x2x1 "in"
%1 float32 1x1x1x2 "m/w" = [3.0, 4.0]
%2 float32 2 "n/gamma" = [2.0, 0.5]
%3 float32 2 "n/beta" = [1.0, -1.0]
%4 float32 2 "n/mean" = [0.0, 2.0]
%5 float32 2 "n/variance" = [1.0, 1.0]
%6 float32 1x1x2x2 "m"
%7 float32 1x2x2 "m"
%8 float32 1x2x2 "n"
%6 = convolution(%0, %1) "m"
%7 = reshape(%6) "m" {shape [1, 2, 2]}
%8 = batch_normalization(%7, %2, %3, %4, %5) "n" {epsilon 0.0}
)") == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2x1 "in"
%1 float32 1x1x2x2 "m"
%2 float32 1x2x2 "m"
%3 float32 1x1x1x2 "m/w" = [6.0, 2.0]
%4 float32 2 "m/bias" = [1.0, -2.0]
%1 = convolution(%0, %3, %4) "m"
%2 = reshape(%1) "m" {shape [1, 2, 2]}
)");
}

TEST_CASE("remove_identities keeps the axes of a 1x1 pooling where somebody counts them",
          "[compiler][passes]") {
    const std::string begin = R"(
graph "g"
inputs %0
outputs %3
%0 float32 1x2x3 "in"
%1 float32 1x2x3 "t"
%2 float32 1x1x2x3 "p"
)";
    CHECK(after(passes::remove_identities, begin.substr(1) + R"(%3 float32 1x1x2x3 "s"
%1 = tanh(%0) "t"
%2 = max_pool(%1) "p"
%3 = softmax(%2) "s" {axis 2}
)") == begin + R"(%3 float32 1x1x2x3 "s"
%1 = tanh(%0) "t"
%2 = reshape(%1) "p" {shape [1, 1, 2, 3]}
%3 = softmax(%2) "s" {axis 2}
)");
    CHECK(after(passes::remove_identities, begin.substr(1) + R"(%3 float32 1x1x2x3 "q"
%1 = tanh(%0) "t"
%2 = max_pool(%1) "p"
%3 = max_pool(%2) "q" {kernel [1, 2], padding [0, 0, 0, 1]}
)") == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2x3 "in"
%1 float32 1x2x3 "t"
%2 float32 1x1x2x3 "q"
%1 = tanh(%0) "t"
%2 = max_pool(%1) "q" {kernel [1, 2], padding [0, 0, 0, 1]}
)");
}

TEST_CASE("fold_padding adds borders to the padding of a convolution", "[compiler][passes]") {
    CHECK(after(passes::fold_padding, R"(graph "g"
inputs %0
outputs %3
%0 float32 1x2x2x1 "in"
%1 float32 1x5x4x1 "border"
%2 float32 2x2x1x1 "c/kernel" = [1.0, 2.0, 3.0, 4.0]
%3 float32 1x5x3x1 "c"
%1 = zero_padding(%0) "border" {padding [1, 0, 2, 2]}
%3 = convolution(%1, %2) "c" {kernel [2, 2], padding [1, 0, 0, 0]}
)") == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x2x2x1 "in"
%1 float32 2x2x1x1 "c/kernel" = [1.0, 2.0, 3.0, 4.0]
%2 float32 1x5x3x1 "c"
%2 = convolution(%0, %1) "c" {kernel [2, 2], padding [2, 0, 2, 2]}
)");
}

TEST_CASE("fold_concat_into_dense lets a dense layer read the concatenated vectors", "[compiler][passes]") {
    CHECK(after(passes::fold_concat_into_dense, R"(graph "g"
inputs %0
outputs %4
%0 float32 1x1x1x2 "in"
%1 float32 1x2 "r"
%2 float32 1x1x1x4 "both"
%3 float32 4x1 "d/kernel" = [1.0, 2.0, 3.0, 4.0]
%4 float32 1x1 "d"
%1 = reshape(%0) "r" {shape [1, 2]}
%2 = concat(%0, %1) "both"
%4 = dense(%2, %3) "d"
)") == R"(
graph "g"
inputs %0
outputs %2
%0 float32 1x1x1x2 "in"
%1 float32 4x1 "d/kernel" = [1.0, 2.0, 3.0, 4.0]
%2 float32 1x1 "d"
%2 = dense(%0, %0, %1) "d"
)");
}

TEST_CASE("drop_weights removes the values and keeps the shapes", "[compiler][passes]") {
    CHECK(after(passes::drop_weights, R"(graph "g"
inputs %0
outputs %2
%0 float32 1x2 "in"
%1 float32 2x2 "d/kernel" = [1.0, 2.0, 3.0, 4.0]
%2 float32 1x2 "d"
%2 = dense(%0, %1) "d"
)") == R"(
graph "g" without weights
inputs %0
outputs %2
%0 float32 1x2 "in"
%1 float32 2x2 "d/kernel" = unknown
%2 float32 1x2 "d"
%2 = dense(%0, %1) "d"
)");
}

TEST_CASE("calibrate sets the range of each activation", "[compiler][passes]") {
    const passes::Calibration calibration{
        .inputs = {1.0F, 0.5F, -2.0F, 4.0F}, .count = 2, .encoding = std::nullopt};
    const auto calibrate = [&](ir::Graph graph) { return passes::calibrate(std::move(graph), calibration); };
    const std::string text = R"(graph "g"
inputs %0
outputs %3
%0 float32 1x2 "in"
%1 float32 2x1 "d/kernel" = [1.0, 2.0]
%2 float32 1x1 "d"
%3 float32 1x1 "t" stored int16
%2 = dense(%0, %1) "d"
%3 = relu(%2) "t"
)";
    const std::string calibrated = R"(
graph "g"
inputs %0
outputs %3
%0 float32 1x2 "in" range -2.0 4.0
%1 float32 2x1 "d/kernel" = [1.0, 2.0]
%2 float32 1x1 "d" range 0.0 6.0
%3 float32 1x1 "t" stored int16 range 0.0 6.0
%2 = dense(%0, %1) "d"
%3 = relu(%2) "t"
)";
    CHECK(after(calibrate, text) == calibrated);
    CHECK(after(calibrate, calibrated.substr(1)) == calibrated);
    // Without values nothing can be computed.
    CHECK(after(calibrate, ir::to_text(passes::drop_weights(read(text)))) == R"(
graph "g" without weights
inputs %0
outputs %3
%0 float32 1x2 "in" range -2.0 2.0
%1 float32 2x1 "d/kernel" = unknown
%2 float32 1x1 "d" range -1.0 1.0
%3 float32 1x1 "t" stored int16 range -1.0 1.0
%2 = dense(%0, %1) "d"
%3 = relu(%2) "t"
)");
}

TEST_CASE("unite_ranges gives concatenated values equal ranges", "[compiler][passes]") {
    CHECK(after(passes::unite_ranges, R"(graph "g"
inputs %0
outputs %3
%0 float32 1x2 "in" range 0.0 1.0
%1 float32 1x2 "a" range -0.5 0.25
%2 float32 1x2 "b" range 0.0 9.0
%3 float32 1x6 "ab" range -1.0 2.0
%1 = tanh(%0) "a"
%2 = relu(%0) "b"
%3 = concat(%1, %0, %2) "ab"
)") == R"(
graph "g"
inputs %0
outputs %3
%0 float32 1x2 "in" range 0.0 1.0
%1 float32 1x2 "a" range -1.0 9.0
%2 float32 1x2 "b" range -1.0 9.0
%3 float32 1x6 "ab" range -1.0 9.0
%1 = tanh(%0) "a"
%2 = relu(%0) "b"
%3 = concat(%1, %0, %2) "ab"
)");
}

TEST_CASE("quantize converts weights, activations and functions to integers", "[compiler][passes]") {
    const auto quantize = [](const ir::Graph& graph) {
        return passes::quantize(graph, passes::InputEncoding{0.5, 3});
    };
    // From steps of 0.25 to steps of 0.5, halves upwards.
    std::string halves;
    for (int byte = 0; byte < 256; ++byte) halves += fmt::format("{:02x}", (byte + 1) / 2);
    // Scales of weights are their largest over 127.
    CHECK(after(quantize, R"(graph "g"
inputs %0
outputs %6
%0 float32 1x2 "in" range 0.0 1.0
%1 float32 2x2 "d/kernel" = [63.5, 0.25, -0.5, -31.75]
%2 float32 2 "d/bias" = [1.0, -1.0]
%3 float32 1x2 "d" range -9.0 99.0
%4 float32 1x2 "r" range 0.0 63.75
%5 float32 1x4 "both" range 0.0 127.5
%6 float32 1x4 "s" range 0.0 1.0
%3 = dense(%0, %1, %2) "d"
%4 = relu(%3) "r"
%5 = concat(%4, %4) "both"
%6 = softmax(%5) "s"
)") == std::string(R"(
graph "g"
inputs %0
outputs %9
%0 uint8 1x2 "in" scale 0.5 zero 3
%1 int8 2x2 "d/kernel" axis 1 scales [0.5, 0.25] zeros [0, 0] = [127, 1, -1, -127]
%2 int32 2 "d/bias" = [4, -8]
%3 uint8 1x2 "r" scale 0.25 zero 0
%4 uint8 1x2 "r" scale 0.5 zero 0
%5 uint8 256 "both/table" = bytes )") +
              halves + R"(
%6 uint8 1x2 "r" scale 0.5 zero 0
%7 uint8 256 "both/table" = bytes )" +
              halves + R"(
%8 uint8 1x4 "both" scale 0.5 zero 0
%9 float32 1x4 "s"
%3 = dense(%0, %1, %2) "d" {clamp [0, 255]}
%4 = lookup(%3, %5) "both"
%6 = lookup(%3, %7) "both"
%8 = concat(%4, %6) "both"
%9 = softmax(%8) "s"
)");
}

TEST_CASE("calibrate, unite_ranges and quantize do not change a graph on integers", "[compiler][passes]") {
    const std::string text = R"(
graph "g"
inputs %0
outputs %4
%0 int8 1x2 "in" scale 0.5 zero -3
%1 int8 2x1 "d/kernel" axis 1 scales [0.5] zeros [0] = [1, -127]
%2 int32 1 "d/bias" = [4]
%3 int16 1x1 "d" scale 0.25 zero 0
%4 int16 1x1 "m" scale 1e-05 zero 0
%3 = dense(%0, %1, %2) "d"
%4 = multiply(%3, %3) "m" {clamp [-5, 32767]}
)";
    CHECK("\n" + ir::to_text(passes::prepare(read(text.substr(1)), {})) == text);
}

TEST_CASE("The pass manager runs passes in order, and verifies and reports after each",
          "[compiler][passes]") {
    const ir::Graph graph = read(R"(graph "g"
inputs %0
outputs %2
%0 float32 1x2 "in"
%1 float32 1x2 "linear"
%2 float32 1x2 "r"
%1 = identity(%0) "linear"
%2 = relu(%1) "r"
)");
    std::vector<std::string> told;
    const auto observer = [&](std::string_view pass, const ir::Graph& left) {
        told.push_back(std::string(pass) + " " + std::to_string(left.nodes.size()));
    };
    CHECK(passes::simplify(graph, observer).nodes.size() == 1);
    CHECK(told == std::vector<std::string>{
                      "move_transposes 2", "remove_identities 1", "recognize_operators 1", "fold_qdq 1",
                      "absorb_border_conversions 1", "absorb_constants 1", "fold_batch_normalization 1",
                      "remove_reshapes 1", "fold_padding 1", "fold_concat_into_dense 1"});

    passes::PassManager manager;
    manager.add("forget", [](ir::Graph broken) {
        broken.nodes.pop_back();
        return broken;
    });
    CHECK_THROWS_WITH(manager.run(graph), "forget: the graph of \"g\" is broken: value %2: nothing makes it");
    CHECK_THROWS_AS(manager.add("forget", passes::fold_padding), std::logic_error);
    CHECK(manager.names() == std::vector<std::string>{"forget"});
}

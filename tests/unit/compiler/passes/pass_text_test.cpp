// Each pass from text to text.
#include <catch2/catch.hpp>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/fold_padding.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/remove_identities.h"

using namespace systole;

namespace {

ir::Graph read(const std::string& text) {
    return ir::parse_graph(text, "test", operators::registry());
}

std::string after(passes::PassManager::Transformation pass, const std::string& text) {
    return "\n" + ir::to_text(pass(read(text)));
}

}  // namespace

TEST_CASE("remove_identities takes out what changes no value, and reshapes the input itself",
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

TEST_CASE("fold_batch_normalization makes a convolution of single pixels where nothing is before it",
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

TEST_CASE("fold_concat_into_dense lets a dense layer read what was concatenated", "[compiler][passes]") {
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

TEST_CASE("drop_weights forgets the values and keeps the shapes", "[compiler][passes]") {
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

TEST_CASE("The pass manager runs passes in order, verifies and tells after each", "[compiler][passes]") {
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
    CHECK(told == std::vector<std::string>{"remove_identities 1", "fold_batch_normalization 1",
                                           "fold_padding 1", "fold_concat_into_dense 1"});

    passes::PassManager manager;
    manager.add("forget", [](ir::Graph broken) {
        broken.nodes.pop_back();
        return broken;
    });
    CHECK_THROWS_WITH(manager.run(graph), "forget: the graph of \"g\" is broken: value %2: nothing makes it");
    CHECK_THROWS_AS(manager.add("forget", passes::fold_padding), std::logic_error);
    CHECK(manager.names() == std::vector<std::string>{"forget"});
}

// Products, convolutions and scattered sums of words, to the bit.
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <vector>

#include "compiler/reference/executor.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Floats = std::vector<float>;

/// The results of a node of two inputs, written as the lines of their values, the result and the node.
Floats result_of(const std::string& values, const std::string& node, const std::vector<Floats>& inputs) {
    const ir::Graph graph =
        tests::graph_of_text("graph \"g\"\ninputs %0, %1\noutputs %2\n" + values + "%2 = " + node + "\n");
    const std::vector<std::span<const float>> spans(inputs.begin(), inputs.end());
    return reference::execute(graph, spans, 1).front();
}

}  // namespace

TEST_CASE("Two computed matrices are multiplied, each as it is or transposed", "[compiler][reference]") {
    const Floats a{1, 2, 3, 4, 5, 6};
    const Floats b{1, 10, 100, 1000, 10000, 100000};
    const std::string values = "%0 float32 1x2x3 \"a\"\n%1 float32 1x3x2 \"b\"\n%2 float32 1x2x2 \"n\"\n";
    CHECK(result_of(values, "word_product(%0, %1) \"n\"", {a, b}) == Floats{30201, 302010, 60504, 605040});
    const std::string second = "%0 float32 1x2x3 \"a\"\n%1 float32 2x3 \"b\"\n%2 float32 1x2x2 \"n\"\n";
    CHECK(result_of(second, "word_product(%0, %1) \"n\" {transposed_b 1}", {a, b}) ==
          Floats{321, 321000, 654, 654000});
    const std::string first = "%0 float32 1x3x2 \"a\"\n%1 float32 1x3x2 \"b\"\n%2 float32 1x2x2 \"n\"\n";
    CHECK(result_of(first, "word_product(%0, %1) \"n\" {transposed_a 1}", {a, b}) ==
          Floats{50301, 503010, 60402, 604020});
}

TEST_CASE("A computed kernel meets the pixels of a spread image, without the zeros between them",
          "[compiler][reference]") {
    const std::string values =
        "%0 float32 1x1x1x3x1 \"x\"\n%1 float32 1x1x3x1x1 \"k\"\n%2 float32 1x1x1x5x1 \"n\"\n";
    const std::string attributes = "kernel [1, 3], padding [0, 1, 0, 1]";
    CHECK(result_of(values, "word_convolution(%0, %1) \"n\" {" + attributes + ", spread_x 2}",
                    {{1, 2, 3}, {100, 10, 1}}) == Floats{10, 102, 20, 203, 30});
}

TEST_CASE("Numbers are added where windows have their greatest or least element", "[compiler][reference]") {
    const std::string values =
        "%0 float32 1x1x5x1 \"x\"\n%1 float32 1x1x3x1 \"s\"\n%2 float32 1x1x5x1 \"n\"\n";
    const std::string windows = "word_select_and_scatter(%0, %1) \"n\" {kernel [1, 3]";
    CHECK(result_of(values, windows + "}", {{1, 7, 7, 3, 2}, {1, 10, 100}}) == Floats{0, 11, 100, 0, 0});
    CHECK(result_of(values, windows + ", select \"least\"}", {{1, 7, 7, 3, 2}, {1, 10, 100}}) ==
          Floats{1, 0, 0, 10, 100});
}

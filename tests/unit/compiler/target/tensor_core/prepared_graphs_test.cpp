// What becomes of a graph before a network is made of it.
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/equal_nodes.h"
#include "compiler/target/tensor_core/narrow_images.h"
#include "compiler/target/tensor_core/needless_reshapes.h"
#include "compiler/target/tensor_core/relu_masks.h"
#include "tests/support/text_graphs.h"

namespace systole::tests {
namespace {

std::string without_equal(const std::string& text) {
    return to_text(tensor_core::without_equal_nodes(graph_of_text(text)));
}
std::string with_masks(const std::string& text) {
    return to_text(tensor_core::with_masks_of_results(graph_of_text(text)));
}
std::string with_lines(const std::string& text) {
    return to_text(tensor_core::with_lines_of_narrow_images(graph_of_text(text), 128));
}

TEST_CASE("Nodes that do the same with the same values are one", "[tensor_core]") {
    const std::string values =
        "%0 float32 1x4 \"x\"\n%1 float32 1x4 \"a\"\n%2 float32 1x4 \"b\"\n%3 float32 1x4 \"y\"\n"
        "%1 = word_chain(%0) \"a\" {steps [\"exp 0\"]}\n";
    const std::string same = "%2 = word_chain(%0) \"b\" {steps [\"exp 0\"]}\n";
    const std::string sum = "%3 = word_chain(%1, %2) \"y\" {steps [\"add 0 1\"]}\n";
    CHECK(without_equal("graph \"g\"\ninputs %0\noutputs %3\n" + values + same + sum) ==
          "graph \"g\"\ninputs %0\noutputs %2\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"a\"\n%2 float32 1x4 "
          "\"y\"\n"
          "%1 = word_chain(%0) \"a\" {steps [\"exp 0\"]}\n"
          "%2 = word_chain(%1, %1) \"y\" {steps [\"add 0 1\"]}\n");
    // Other work, another type, and what is an output itself stay.
    const std::string other = "graph \"g\"\ninputs %0\noutputs %3\n" + values +
                              "%2 = word_chain(%0) \"b\" {steps [\"tanh 0\"]}\n" + sum;
    CHECK(without_equal(other) == to_text(graph_of_text(other)));
    std::string narrow = "graph \"g\"\ninputs %0\noutputs %3\n" + values + same + sum;
    narrow.replace(narrow.find("%2 float32"), 10, "%2 bfloat16");
    CHECK(without_equal(narrow) == to_text(graph_of_text(narrow)));
    // -0.0 is another border than 0.0.
    ir::Graph borders = ir::parse_graph(
        "graph \"g\"\ninputs %0\noutputs %3\n%0 float32 1x4 \"x\"\n"
        "%1 float32 1x6 \"a\"\n%2 float32 1x6 \"b\"\n%3 float32 1x6 \"y\"\n"
        "%1 = pad(%0) \"a\" {before [0, 1], after [0, 1]}\n"
        "%2 = pad(%0) \"b\" {before [0, 1], after [0, 1]}\n" +
            sum,
        "test", operators::registry());
    CHECK(tensor_core::without_equal_nodes(borders).nodes.size() == 2);
    borders.nodes[1].set("value", -0.0);
    CHECK(tensor_core::without_equal_nodes(borders).nodes.size() == 3);
    const std::string output = "graph \"g\"\ninputs %0\noutputs %3, %2\n" + values + same + sum;
    CHECK(without_equal(output) == to_text(graph_of_text(output)));
}

/// A column that becomes a row, with which work is done, and a column again, which `reader` reads.
std::string between_reshapes(const std::string& work, const std::string& outputs, const std::string& back,
                             const std::string& reader) {
    return "graph \"g\"\ninputs %0, %1\noutputs " + outputs +
           "\n%0 float32 1x4x1 \"x\"\n%1 float32 1x4 \"z\"\n%2 float32 1x4 \"r\"\n%3 float32 1x4 \"c\"\n"
           "%4 float32 " +
           back + " \"b\"\n%5 float32 " + back +
           " \"y\"\n"
           "%2 = reshape(%0) \"r\" {shape [1, 4]}\n%3 = " +
           work + "%4 = reshape(%3) \"b\" {shape [" + (back == "1x4x1" ? "1, 4, 1" : "1, 2, 2") + "]}\n" +
           reader;
}

TEST_CASE("Work between a reshape and one back is done without them", "[tensor_core]") {
    const auto without = [](const std::string& text) {
        return to_text(tensor_core::without_needless_reshapes(graph_of_text(text)));
    };
    const std::string own = "word_chain(%2) \"c\" {steps [\"constant 0xff800000\", \"maximum 0 1\"]}\n";
    const std::string reader = "%5 = word_chain(%4) \"y\" {steps [\"exp 0\"]}\n";
    CHECK(without(between_reshapes(own, "%5", "1x4x1", reader)) ==
          "graph \"g\"\ninputs %0, %1\noutputs %3\n%0 float32 1x4x1 \"x\"\n%1 float32 1x4 \"z\"\n"
          "%2 float32 1x4x1 \"c\"\n%3 float32 1x4x1 \"y\"\n"
          "%2 = word_chain(%0) \"c\" {steps [\"constant 0xff800000\", \"maximum 0 1\"]}\n"
          "%3 = word_chain(%2) \"y\" {steps [\"exp 0\"]}\n");
    // Back to another shape; another reader; another operand that is no reshape; a result that is an output.
    for (const std::string& text :
         {between_reshapes(own, "%5", "1x2x2", reader), between_reshapes(own, "%5, %3", "1x4x1", reader),
          between_reshapes("word_chain(%2, %1) \"c\" {steps [\"add 0 1\"]}\n", "%5", "1x4x1", reader),
          between_reshapes(own, "%4, %5", "1x4x1", reader)})
        CHECK(without(text) == to_text(graph_of_text(text)));
}

/// A number, max(number, 0), which a product reads, and whether the number is above 0; the latter first.
std::string relu(const std::string& question, const std::string& reader) {
    return "graph \"g\"\ninputs %0, %1\noutputs %3, %4\n%0 float32 1x4x4 \"x\"\n%1 float32 1x4x4 \"w\"\n"
           "%2 float32 1x4x4 \"r\"\n%3 int32 1x4x4 \"m\"\n%4 float32 1x4x4 \"p\"\n"
           "%3 = word_chain(%0) \"m\" {steps [\"constant 0x00000000\", \"" +
           question +
           "\"]}\n"
           "%2 = word_chain(%0) \"r\" {steps [\"constant 0x00000000\", \"maximum 0 1\"]}\n" +
           reader;
}

TEST_CASE("Masks of ReLU are made of its results, where a product reads these", "[tensor_core]") {
    const std::string reader = "%4 = matrix_product(%2, %1) \"p\" {sum_tile 16, precision \"default\"}\n";
    const std::string changed = with_masks(relu("less 1 0", reader));
    CHECK(changed.find("%3 = word_chain(%2) \"m\"") != std::string::npos);
    CHECK(changed.find("%2 = word_chain(%0)") < changed.find("%3 = word_chain(%2)"));
    CHECK(!ir::find_fault(graph_of_text(changed)));
    // Another question, and results that no product keeps.
    for (const std::string& text : {relu("less 0 1", reader), relu("less_equal 1 0", reader),
                                    relu("less 1 0", "%4 = word_chain(%2) \"p\" {steps [\"exp 0\"]}\n")})
        CHECK(with_masks(text) == to_text(graph_of_text(text)));
}

const std::string narrow_images =
    "graph \"g\"\ninputs %0, %1\noutputs %3, %4\n%0 float32 1x4x5x6x3 \"x\"\n%1 float32 1x3x3x3x8 \"k\"\n"
    "%2 float32 1x4x7x8x3 \"b\"\n%3 float32 1x4x5x6x8 \"c\"\n%4 float32 1x3x7x8x4 \"t\"\n"
    "%2 = pad(%0) \"b\" {before [0, 0, 1, 1, 0], after [0, 0, 1, 1, 0]}\n"
    "%3 = word_convolution(%2, %1) \"c\" {kernel [3, 3], sum_tile 128, precision \"default\"}\n";

TEST_CASE("Images of few channels are lines for borders, convolutions and a transposition", "[tensor_core]") {
    const std::string text =
        with_lines(narrow_images + "%4 = transpose(%2) \"t\" {permutation [0, 4, 2, 3, 1]}\n");
    CHECK(!ir::find_fault(graph_of_text(text)));
    for (const char* const line :
         {"reshape(%0) \"b\" {shape [1, 4, 5, 18]}", "{before [0, 0, 1, 3], after [0, 0, 1, 3]}",
          "reshape(%2) \"c\" {shape [1, 4, 7, 8, 3]}", "transpose(%2) \"t\" {permutation [0, 2, 3, 1]}",
          "{shape [1, 7, 8, 3, 4]}", "{permutation [0, 3, 1, 2, 4]}"}) {
        INFO(line << "\n" << text);
        CHECK(text.find(line) != std::string::npos);
    }
    // Work that reads them twice is changed once; a border of copies would repeat single channels.
    std::string squares = narrow_images + "%4 = transpose(%2) \"t\" {permutation [0, 4, 2, 3, 1]}\n";
    squares.replace(squares.find("%2 = pad(%0)"), 12,
                    "%5 = word_chain(%0, %0) \"s\" {steps [\"multiply 0 1\"]}\n%2 = pad(%5)");
    const std::size_t values_end = squares.find("%5 = word_chain");
    squares.insert(values_end, "%5 float32 1x4x5x6x3 \"s\"\n");
    const std::string of_squares = with_lines(squares);
    CHECK(!ir::find_fault(graph_of_text(of_squares)));
    CHECK(of_squares.find("{before [0, 0, 1, 3], after [0, 0, 1, 3]}") != std::string::npos);
    std::string copies = narrow_images + "%4 = transpose(%2) \"t\" {permutation [0, 4, 2, 3, 1]}\n";
    copies.replace(copies.find("after [0, 0, 1, 1, 0]}"), 22, "after [0, 0, 1, 1, 0], mode \"edge\"}");
    CHECK(with_lines(copies) == to_text(graph_of_text(copies)));
    // What needs pixels keeps them for all.
    const std::string others = narrow_images + "%4 = transpose(%2) \"t\" {permutation [0, 4, 3, 2, 1]}\n";
    std::string swapped = others;
    swapped.replace(swapped.find("1x3x7x8x4"), 9, "1x3x8x7x4");
    CHECK(with_lines(swapped) == to_text(graph_of_text(swapped)));
    std::string wide = narrow_images + "%4 = transpose(%2) \"t\" {permutation [0, 4, 2, 3, 1]}\n";
    for (const auto& [from, to] : {std::pair{"1x4x5x6x3 \"x\"", "1x4x5x6x96 \"x\""},
                                   {"1x3x3x3x8", "1x3x3x96x8"},
                                   {"1x4x7x8x3", "1x4x7x8x96"},
                                   {"1x3x7x8x4", "1x96x7x8x4"}})
        wide.replace(wide.find(from), std::string(from).size(), to);
    CHECK(with_lines(wide) == to_text(graph_of_text(wide)));
}

}  // namespace
}  // namespace systole::tests

// Products, convolutions and scattered sums of words between nodes that passes move and remove.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/ready_for_run.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_order.h"
#include "tests/support/graphs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

/// Transpositions, reshapes that add and remove leading axes of extent 1, borders, factors and concatenations
/// before and behind the nodes.
const std::string between =
    "graph \"g\"\ninputs %0, %1\noutputs %10, %16, %18\n"
    "%0 float32 1x4x3 \"x\"\n%1 float32 1x3x3x2 \"image\"\n"
    "%2 float32 2x3 \"constant\" = [1.0, 2.0, -3.0, 0.5, 4.0, 0.25]\n"
    "%3 float32 1x1x1x2x2 \"kernel\" = [1.0, 2.0, 3.0, -4.0]\n"
    "%4 float32 2 \"factors\" = [2.0, 3.0]\n"
    "%5 float32 1x3x4 \"t\"\n%6 float32 1x2x4 \"first\"\n%7 float32 1x4x2 \"u\"\n%8 float32 1x4x2 "
    "\"scaled\"\n"
    "%9 float32 4x2 \"rows\"\n%10 float32 1x4x4 \"second\"\n"
    "%11 float32 1x5x5x2 \"border\"\n%12 float32 1x1x5x5x2 \"images\"\n%13 float32 1x1x5x5x2 \"convolved\"\n"
    "%14 float32 1x1x4x4x2 \"largest\"\n%15 float32 1x1x5x5x2 \"scattered\"\n%16 float32 1x5x5x2 \"back\"\n"
    "%17 float32 1x1x5x10x2 \"both\"\n%18 float32 1x1x9x19x2 \"spread\"\n"
    "%5 = transpose(%0) \"t\" {permutation [0, 2, 1]}\n"
    "%6 = matrix_product(%2, %5) \"first\" {sum_tile 2}\n"
    "%7 = transpose(%6) \"u\" {permutation [0, 2, 1]}\n"
    "%8 = word_chain(%7, %4) \"scaled\" {steps [\"multiply 0 1\"]}\n"
    "%9 = reshape(%8) \"rows\" {shape [4, 2]}\n"
    "%10 = matrix_product(%9, %6) \"second\" {sum_tile 2}\n"
    "%11 = zero_padding(%1) \"border\" {padding [1, 1, 1, 1]}\n"
    "%12 = reshape(%11) \"images\" {shape [1, 1, 5, 5, 2]}\n"
    "%13 = word_convolution(%12, %3) \"convolved\" {sum_tile 2}\n"
    "%14 = word_windows(%13) \"largest\" {reduction \"maximum\", kernel [2, 2]}\n"
    "%15 = word_select_and_scatter(%13, %14) \"scattered\" {kernel [2, 2]}\n"
    "%16 = reshape(%15) \"back\" {shape [1, 5, 5, 2]}\n"
    "%17 = concat(%12, %15) \"both\" {axis 3}\n"
    "%18 = word_convolution(%17, %3) \"spread\" {spread_y 2, spread_x 2, sum_tile 2}\n";

}  // namespace

TEST_CASE("Nodes on words stay as they are beside what passes move and remove", "[compiler][passes]") {
    const ir::Graph graph = tests::graph_of_text(between);
    const ir::Graph prepared = passes::prepare_in_words(graph, {});
    const auto words_of = [](const ir::Graph& of) {
        std::vector<std::string> nodes;
        for (const ir::Node& node : of.nodes) {
            const bool is_on_words = node.op->name().starts_with("word_") || node.is("matrix_product");
            if (!is_on_words || node.is("word_chain")) continue;
            nodes.push_back(node.name);
            for (const ir::Attribute& attribute : node.attributes)
                nodes.back() += " " + ir::to_text(attribute);
        }
        return nodes;
    };
    CHECK(words_of(prepared) == words_of(graph));
    CHECK(words_of(graph).size() == 6);
    // A constant is the first input still.
    const auto first = std::ranges::find(prepared.nodes, "first", &ir::Node::name);
    REQUIRE(first != prepared.nodes.end());
    CHECK(prepared.values[first->inputs[0]].constant);
    tests::GraphParts parts(1);
    const std::vector<std::vector<float>> inputs{parts.values(2 * 12), parts.values(2 * 18)};
    CHECK(tests::run_in_file_order(prepared, inputs, 2) == tests::run_in_file_order(graph, inputs, 2));
}

TEST_CASE("A program that only moves words keeps its order and its formats", "[compiler][passes]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"moves\"\n"
        "inputs %0\n"
        "outputs %1, %2\n"
        "%0 int32 1x2x3 \"x\" file int8\n"
        "%1 int32 1x3x2 \"turned\" file int8\n"
        "%2 int32 1x2x3 \"same\" file int8\n"
        "%1 = transpose(%0) \"turned\" {permutation [0, 2, 1]}\n"
        "%2 = identity(%0) \"same\"\n");
    const ir::Graph prepared = passes::prepare_in_words(passes::ready_for_run(graph), {});
    REQUIRE(prepared.outputs.size() == 2);
    for (const ir::ValueId id : {prepared.inputs[0], prepared.outputs[0], prepared.outputs[1]}) {
        CHECK(prepared.values[id].file_type == DataType::Int8);
        CHECK(prepared.values[id].file_axes.empty());
    }
    const std::vector<reference::TensorBytes> inputs{
        tests::bytes_of(std::vector<std::int32_t>{1, -2, 3, 4, 5, -128})};
    const std::vector<std::span<const std::uint8_t>> given(inputs.begin(), inputs.end());
    const auto outputs = reference::run(prepared, given, 1);
    CHECK(tests::numbers_of<std::int32_t>(outputs[0]) == std::vector<std::int32_t>{1, 4, -2, 5, 3, -128});
    CHECK(outputs[1] == inputs[0]);
}

// What the compiler's door asks the family of a machine.
#include "compiler/compile.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/text.h"
#include "tests/support/graphs.h"

using namespace systole;

TEST_CASE("A graph is quantized for families that compute on integers, and for no others", "[compiler]") {
    tests::GraphParts parts(3);
    tests::Graph graph({1, 1, 6});
    graph.append("dense", parts.dense({1, 1, 6}, 4, true), {0});
    graph.append("same", tests::op("identity"), {1});
    const std::vector<float> inputs = parts.values(6, 0.0F);
    const compiler::Calibration calibration{.inputs = inputs, .count = 1, .encoding = {}};
    const auto prepared_for = [&](bool computes_on_integers) {
        return compiler::prepare_for({.computes_on_integers = computes_on_integers}, graph, calibration);
    };
    const ir::Graph on_integers = prepared_for(true);
    CHECK(ir::is_quantized(on_integers));
    CHECK(ir::to_text(on_integers) ==
          ir::to_text(compiler::prepare(graph, calibration, machine::MachineConfig())));
    const ir::Graph in_float = prepared_for(false);
    CHECK_FALSE(ir::is_quantized(in_float));
    CHECK(in_float.output().type == DataType::Float32);
    // Simplified.
    CHECK(in_float.nodes.size() == 1);
}

TEST_CASE("A machine of floats says how its networks are summed and rounded", "[compiler]") {
    tests::GraphParts parts(4);
    tests::Graph graph({1, 1, 6});
    graph.append("dense", parts.dense({1, 1, 6}, 4, false), {0});
    graph.append("softmax", tests::op("softmax"), {1});
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    machine.matrix_unit.rows = 32;
    machine.matrix_unit.precision = machine::MatrixPrecision::High;
    machine.vector_unit.lanes = 256;
    std::vector<std::string> passes;
    const ir::Graph words = compiler::prepare(
        graph, {}, machine, [&](std::string_view pass, const ir::Graph&) { passes.emplace_back(pass); });
    const auto node = [&](std::string_view op) {
        return *std::ranges::find_if(words.nodes, [&](const ir::Node& each) { return each.is(op); });
    };
    CHECK(node("dense").integer("sum_tile") == 32);
    CHECK(node("dense").text("precision") == "high");
    CHECK(node("word_reduce").integer("sum_tile") == 256);
    CHECK(passes.back() == "compute_in_words");
    CHECK(compiler::pass_names().back() == "compute_in_words");
}

// What the compiler's door asks the family of a machine.
#include "compiler/compile.h"

#include <catch2/catch.hpp>

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

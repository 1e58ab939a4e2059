#include "sim/validate/eight_bit.h"

#include <catch2/catch.hpp>
#include <memory>

#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/slice.h"

namespace systole::validate {
namespace {

TEST_CASE("All activations become 8-bit, and nothing else changes", "[sim][validate]") {
    graph::Graph graph{.name = "wide", .nodes = {}, .has_weights = false};
    const graph::NodeId input = graph.append(
        "input", std::make_unique<graph::Input>(graph::Shape{.height = 1, .width = 1, .channels = 600}), {},
        16);
    graph.append("slice", std::make_unique<graph::Slice>(300, 200), {input}, 16);
    const graph::Graph narrow = with_8_bit_activations(graph);
    REQUIRE(narrow.nodes.size() == 2);
    for (const graph::Node& node : narrow.nodes) CHECK(node.activation_bits == 8);
    CHECK(narrow.nodes[1].shape == graph.nodes[1].shape);
    CHECK(graph.nodes[1].activation_bits == 16);
}

}  // namespace
}  // namespace systole::validate

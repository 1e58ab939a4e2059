#include "sim/validate/eight_bit.h"

#include <catch2/catch.hpp>

#include "tests/support/graphs.h"

namespace systole::validate {
namespace {

TEST_CASE("All activations become 8-bit, and nothing else changes", "[sim][validate]") {
    tests::Graph graph({1, 1, 600}, 16);
    graph.append("slice", tests::slice(300, 200), {0}, 16);
    const ir::Graph narrow = with_8_bit_activations(graph);
    REQUIRE(narrow.nodes.size() == 1);
    for (const ir::Value& value : narrow.values) CHECK(value.stored_as == DataType::Uint8);
    CHECK(narrow.output_map() == graph.output_shape());
    CHECK(graph.get().output().stored_as == DataType::Int16);
}

}  // namespace
}  // namespace systole::validate

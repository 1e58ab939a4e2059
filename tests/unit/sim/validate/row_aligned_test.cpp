#include "sim/validate/row_aligned.h"

#include <catch2/catch.hpp>
#include <memory>

#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/multiply.h"
#include "compiler/graph/operators/slice.h"

namespace systole::validate {
namespace {

/// Slices of the input from these elements on, multiplied with each other.
graph::Graph sliced(std::uint32_t elements, std::vector<std::uint32_t> firsts, std::uint32_t count,
                    std::uint8_t bits) {
    graph::Graph graph{.name = "sliced", .nodes = {}, .has_weights = false};
    const graph::NodeId input = graph.append(
        "input", std::make_unique<graph::Input>(graph::Shape{.height = 1, .width = 1, .channels = elements}),
        {}, bits);
    graph::NodeId product = 0;
    for (const std::uint32_t first : firsts) {
        const graph::NodeId slice =
            graph.append("slice", std::make_unique<graph::Slice>(first, count), {input}, bits);
        product = product == 0
                      ? slice
                      : graph.append("product", std::make_unique<graph::Multiply>(), {product, slice}, bits);
    }
    return graph;
}

std::uint32_t first_of(const graph::Graph& graph, std::size_t node) {
    return dynamic_cast<const graph::Slice&>(*graph.nodes.at(node).op).first;
}

TEST_CASE("Slices of the input move apart to rows", "[sim][validate]") {
    const graph::Graph aligned = row_aligned(sliced(600, {0, 300}, 300, 16), 512);
    CHECK(first_of(aligned, 1) == 0);
    CHECK(first_of(aligned, 2) == 512);  // 600 bytes are two rows, of 256 elements each
    CHECK(aligned.input_shape().channels == 812);
    CHECK(graph::macs(aligned) == graph::macs(sliced(600, {0, 300}, 300, 16)));
}

TEST_CASE("Slices that lie further apart than they need move together", "[sim][validate]") {
    const graph::Graph aligned = row_aligned(sliced(2048, {0, 1024}, 300, 8), 64);
    CHECK(first_of(aligned, 2) == 320);
    CHECK(aligned.input_shape().channels == 620);
}

TEST_CASE("An input that is read whole stays as it is", "[sim][validate]") {
    graph::Graph graph = sliced(600, {0}, 300, 8);
    graph.append("whole", std::make_unique<graph::Slice>(7, 300), {0}, 8);
    graph.append("product", std::make_unique<graph::Multiply>(), {1, 2}, 8);
    // They overlap: nothing can be moved.
    CHECK(first_of(row_aligned(graph, 256), 2) == 7);
    CHECK(row_aligned(graph, 256).input_shape().channels == 600);
}

TEST_CASE("All activations become 8-bit", "[sim][validate]") {
    const graph::Graph narrow = with_8_bit_activations(sliced(600, {0, 300}, 300, 16));
    for (const graph::Node& node : narrow.nodes) CHECK(node.activation_bits == 8);
}

}  // namespace
}  // namespace systole::validate

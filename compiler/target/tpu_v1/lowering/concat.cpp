// Concatenation of channels: inputs are written in place, or copied.
#include "compiler/operators/concat/concat.h"

#include "compiler/operators/integer_types.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"

namespace systole::tpu_v1 {

bool concatenates_positions(const ir::NodeView& node) {
    constexpr std::size_t rank = 3;
    if (node.node().integer("axis") != 1 || node.output().shape.rank() != rank) return false;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        const ir::Shape& shape = node.input(i).shape;
        if (node.input(i).constant || shape[0] != 1 || shape[1] != 1) return false;
    }
    return true;
}

bool is_concatenated_on_chip(const ir::NodeView& node) {
    if (!operators::is_along_channels(node) && !concatenates_positions(node)) return false;
    if (!node.output().quantization) return false;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        if (!operators::is_stored_alike(node.input(i), node.output())) return false;
    }
    return true;
}

void lower_concat(const ir::NodeView& node, Lowering& lowering) {
    lowering.require_tensors(node.node());
    if (!operators::is_along_channels(node)) return lowering.add_positions(node.node());
    lowering.add_layer(node.node(), node.node().output(), Concatenation{});
}

}  // namespace systole::tpu_v1

// Ranges of elements: readers read the input's rows.
#include "compiler/target/tpu_v1/lowering/lowerings.h"

namespace systole::tpu_v1 {

void lower_slice(const ir::NodeView& node, Lowering& lowering) {
    const auto first = static_cast<std::uint64_t>(node.node().integer("first"));
    lowering.add_layer(node.node(), node.node().output(), Slice{.first_element = first});
}

bool reshapes_maps(const ir::NodeView& node) {
    return node.input().quantization && ir::is_feature_map(node.input().shape) &&
           ir::is_feature_map(node.output().shape);
}

void lower_reshape(const ir::NodeView& node, Lowering& lowering) {
    const ir::ValueId result = node.node().output();
    // The host gets the same bytes with either shape, and the chip has the same rows.
    if (node.input_map() == node.output_map() || !lowering.is_read(result)) {
        lowering.share_tensor(result, lowering.tensor_of(node.node().inputs.front()));
        return;
    }
    lowering.add_layer(node.node(), result, Slice{.first_element = 0});
}

}  // namespace systole::tpu_v1

// Ranges of elements: readers read the input's rows.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/target/tpu_v1/lowering/lowerings.h"

namespace systole::tpu_v1 {

void lower_slice(const ir::NodeView& node, Lowering& lowering) {
    const auto first = static_cast<std::uint64_t>(node.node().integer("first"));
    lowering.add_layer(node.node(), node.node().output(), Slice{.first_element = first});
}

namespace {

/// Elements of a strided slice of an image, if they follow each other in it.
struct Elements {
    std::uint64_t first = 0;
    std::uint64_t count = 1;
};
std::optional<Elements> consecutive_elements(const ir::NodeView& node) {
    const std::vector<std::int64_t>& first = node.node().integers("first");
    const std::vector<std::int64_t>& step = node.node().integers("step");
    const ir::Shape& from = node.input().shape;
    const ir::Shape& to = node.output().shape;
    if (from.rank() != to.rank() || first.size() != from.rank()) return std::nullopt;
    Elements elements;
    bool is_whole = true;  // of all axes behind
    for (std::size_t axis = from.rank(), stride = 1; axis-- > 0; stride *= from[axis]) {
        const bool takes_one = to[axis] == 1;
        if (!takes_one && (!is_whole || step[axis] != 1)) return std::nullopt;
        is_whole = is_whole && to[axis] == from[axis];
        elements.first += static_cast<std::uint64_t>(first[axis]) * stride;
        elements.count *= to[axis];
    }
    return elements;
}

}  // namespace

bool takes_position(const ir::NodeView& node) {
    if (!node.input().quantization || node.output().quantization != node.input().quantization) return false;
    if (!ir::is_feature_map(node.input().shape) || !ir::is_feature_map(node.output().shape)) return false;
    const std::optional<Elements> elements = consecutive_elements(node);
    const std::uint32_t channels = node.input_map().channels;
    return elements && elements->first % channels == 0 && elements->count <= channels;
}

void lower_position(const ir::NodeView& node, Lowering& lowering) {
    lowering.add_layer(node.node(), node.node().output(),
                       Slice{.first_element = consecutive_elements(node).value().first});
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

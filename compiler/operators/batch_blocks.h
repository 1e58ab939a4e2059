#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/layer_kind.h"
#include "compiler/operators/operator.h"

/// What space_to_batch and batch_to_space share: blocks along the axes after the first.
namespace systole::operators {

/// The attribute `block`: the sides of a block along axis 1, 2, ...
ir::AttributeDeclaration block_attribute();
/// The sides. Throws ModelError unless the node's input has an axis for each.
std::vector<std::uint32_t> block_sides(const ir::NodeView& node);

/// The constants of a TFLite node: the sides, and two numbers for each of these axes.
struct BatchBlocks {
    std::vector<std::int64_t> sides;
    std::vector<std::int64_t> before;  ///< by axis of the input
    std::vector<std::int64_t> after;
};
BatchBlocks batch_blocks_of(const ir::LayerReader& layer);

}  // namespace systole::operators

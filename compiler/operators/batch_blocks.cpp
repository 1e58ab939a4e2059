#include "compiler/operators/batch_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {

ir::AttributeDeclaration block_attribute() {
    return {.name = "block",
            .meaning = "the sides of a block, along axis 1, 2, ...",
            .absent = std::vector<std::int64_t>{},
            .is_required = true,
            .minimum = 1,
            .maximum = std::numeric_limits<std::int16_t>::max()};
}

std::vector<std::uint32_t> block_sides(const ir::NodeView& node) {
    if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
    std::vector<std::uint32_t> sides;
    for (const std::int64_t side : node.node().integers("block"))
        sides.push_back(static_cast<std::uint32_t>(side));
    if (sides.empty() || sides.size() >= node.input().shape.rank()) {
        throw ModelError(fmt::format(
            "its blocks have {} sides and its input is {}; each must have an axis after the first",
            sides.size(), to_text(node.input().shape)));
    }
    return sides;
}

BatchBlocks batch_blocks_of(const ir::LayerReader& layer) {
    const std::size_t rank = shape_of(layer).rank();
    BatchBlocks blocks{.sides = constant_integers(layer, 1),
                       .before = std::vector<std::int64_t>(rank, 0),
                       .after = std::vector<std::int64_t>(rank, 0)};
    const std::vector<std::int64_t> borders = constant_integers(layer, 2);
    const bool is_negative = std::ranges::any_of(borders, [](std::int64_t border) { return border < 0; });
    if (blocks.sides.empty() || blocks.sides.size() >= rank || borders.size() != 2 * blocks.sides.size() ||
        is_negative) {
        layer.fail(fmt::format("its blocks are {}, with borders of {}, and its input is {}; they do not fit",
                               joined(blocks.sides), joined(borders), to_text(shape_of(layer))));
    }
    for (std::size_t i = 0; i < blocks.sides.size(); ++i) {
        blocks.before[i + 1] = borders[2 * i];
        blocks.after[i + 1] = borders[2 * i + 1];
    }
    return blocks;
}

}  // namespace systole::operators

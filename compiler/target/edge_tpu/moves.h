#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/isa/instructions/permute.h"
#include "hw/isa/moved_pixels.h"

/// Operators that only put elements of images elsewhere, as `move` instructions.
namespace systole::edge_tpu {

/// Of lines, and of columns (docs/isa.md, "source.*").
inline constexpr std::uint64_t largest_extent = 65535;

/// Pixels of some channels of an input that go to some channels of the result.
struct PixelMove {
    std::size_t input = 0;
    std::uint32_t first_source_channel = 0;
    std::uint32_t first_result_channel = 0;
    std::uint32_t channels = 0;
    isa::MovedPixels pixels = {};
    bool keeps = false;        ///< pixels that come from none stay as they are
    std::int32_t outside = 0;  ///< what they become otherwise, as a stored number
};

/// Either the moves that compute a node, or why there are none.
struct Moves {
    std::vector<PixelMove> all;
    std::optional<std::string> reason = {};  ///< why tiles do not move its elements
};

/// Whether an operator only moves elements.
bool is_move(const ir::Node& node);
/// The moves of such a node, in their order.
Moves moves_of(const ir::NodeView& node);

/// An image with pixels apart, as a convolution reads it in place of a transposed convolution.
struct SpreadImage {
    ir::FeatureMap shape;
    isa::MovedPixels pixels;
};
SpreadImage spread_image(const ir::NodeView& node);

/// The order of the axes of a transposition, as those of images; nullopt if it moves the batch.
std::optional<isa::AxisOrder> axis_order(const ir::NodeView& node);

/// A reduction of channels, and perhaps of lines or columns, as pooling of an image with its axes in another
/// order.
struct TurnedReduction {
    isa::AxisOrder before = isa::AxisOrder::LinesColumnsChannels;
    ir::FeatureMap turned;                                        ///< the input's image in that order
    ir::FeatureMap pooled;                                        ///< with windows of what is reduced
    isa::AxisOrder after = isa::AxisOrder::LinesColumnsChannels;  ///< of the result, from what was pooled
};
/// nullopt if no channels are reduced, or if all three axes have several elements to reduce.
std::optional<TurnedReduction> turned_reduction(const ir::NodeView& node);

/// How a tensor becomes one with the lines and columns of another one by repeating its only line, its only
/// column, or both; nullopt if it does not.
std::optional<isa::MovedPixels> repetition(const ir::FeatureMap& from, const ir::FeatureMap& to);

}  // namespace systole::edge_tpu

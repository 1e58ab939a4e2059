#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/feature_map.h"
#include "compiler/ir/window.h"

namespace systole::tpu_v1 {

/// A block of neighbouring output pixels of a convolution that one row of accumulators holds side by side.
///
/// A convolution with few filters leaves most columns of the array empty. With blocks of p x q pixels, it is
/// computed as a convolution with p * q * F filters, whose window covers the windows of all pixels of a block
/// and moves by p and q pixels at once. The filters of a pixel are the layer's own, at the place of its
/// window; their other weights are zeros. So an image takes fewer rows of array input, but each has more
/// elements.
struct PixelBlock {
    std::uint32_t width = 1;
    std::uint32_t height = 1;

    constexpr std::uint32_t pixels() const { return width * height; }
    bool operator==(const PixelBlock&) const = default;
};

/// The window that the chip streams: it covers the windows of a block's pixels and moves from block to block.
/// It is not dilated, so that it also has elements that belong to no pixel's window: those between the
/// elements of a dilated kernel, and between windows that are further apart than they are wide.
ir::Window window_of_blocks(const ir::Window& window, const PixelBlock& block);

/// The blocks of an output: their number from top to bottom and from left to right, and as channels those of
/// all pixels of a block.
ir::FeatureMap blocks_of(const ir::FeatureMap& output, const PixelBlock& block);

/// The number of the kernel element (row by row) of the layer's own window that a pixel of the block has at
/// an element of the window of blocks; nullopt where its window has none.
std::optional<std::uint32_t> kernel_element(const ir::Window& window, std::uint32_t pixel_row,
                                            std::uint32_t pixel_column, std::uint32_t element_row,
                                            std::uint32_t element_column);

/// The rows and the columns of the window of blocks in which the windows of pixels have elements, in rising
/// order. The elements of other rows and columns meet no weights.
struct UsedElements {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> columns;
};

UsedElements used_elements(const ir::Window& window, const PixelBlock& block);

}  // namespace systole::tpu_v1

#include "compiler/mapping/pixel_block.h"

#include "hw/base/arithmetic.h"

namespace systole::mapping {

ir::Window window_of_blocks(const ir::Window& window, const PixelBlock& block) {
    ir::Window result = window;
    result.kernel_height += window.stride_y * (block.height - 1);
    result.kernel_width += window.stride_x * (block.width - 1);
    result.stride_y *= block.height;
    result.stride_x *= block.width;
    return result;
}

ir::FeatureMap blocks_of(const ir::FeatureMap& output, const PixelBlock& block) {
    return {.height = divide_up(output.height, block.height),
            .width = divide_up(output.width, block.width),
            .channels = output.channels * block.pixels()};
}

std::optional<std::uint32_t> kernel_element(const ir::Window& window, std::uint32_t pixel_row,
                                            std::uint32_t pixel_column, std::uint32_t element_row,
                                            std::uint32_t element_column) {
    const std::uint32_t top = pixel_row * window.stride_y;
    const std::uint32_t left = pixel_column * window.stride_x;
    if (element_row < top || element_row - top >= window.kernel_height) return std::nullopt;
    if (element_column < left || element_column - left >= window.kernel_width) return std::nullopt;
    return (element_row - top) * window.kernel_width + (element_column - left);
}

}  // namespace systole::mapping

#include "compiler/target/tpu_v1/network/pixel_block.h"

#include <set>

#include "base/arithmetic.h"

namespace systole::tpu_v1 {

namespace {

/// The number of the kernel's element at an offset from its first; nullopt between and behind its elements.
std::optional<std::uint32_t> element_at(std::uint32_t offset, std::uint32_t kernel, std::uint32_t dilation) {
    const std::uint32_t element = offset / dilation;
    if (offset % dilation != 0 || element >= kernel) return std::nullopt;
    return element;
}

/// The offsets of the kernels' elements from the first element of the first of `pixels` kernels.
std::vector<std::uint32_t> used_offsets(std::uint32_t kernel, std::uint32_t dilation, std::uint32_t stride,
                                        std::uint32_t pixels) {
    std::set<std::uint32_t> offsets;
    for (std::uint32_t pixel = 0; pixel < pixels; ++pixel) {
        for (std::uint32_t element = 0; element < kernel; ++element) {
            offsets.insert(pixel * stride + element * dilation);
        }
    }
    return {offsets.begin(), offsets.end()};
}

}  // namespace

ir::Window window_of_blocks(const ir::Window& window, const PixelBlock& block) {
    ir::Window result = window;
    // Both fit: operators limit what a kernel covers.
    result.kernel_height =
        static_cast<std::uint32_t>(ir::covered_extent(window.kernel_height, window.dilation_y)) +
        window.stride_y * (block.height - 1);
    result.kernel_width =
        static_cast<std::uint32_t>(ir::covered_extent(window.kernel_width, window.dilation_x)) +
        window.stride_x * (block.width - 1);
    result.dilation_y = result.dilation_x = 1;
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
    if (element_row < top || element_column < left) return std::nullopt;
    const auto row = element_at(element_row - top, window.kernel_height, window.dilation_y);
    const auto column = element_at(element_column - left, window.kernel_width, window.dilation_x);
    if (!row || !column) return std::nullopt;
    return *row * window.kernel_width + *column;
}

UsedElements used_elements(const ir::Window& window, const PixelBlock& block) {
    return {.rows = used_offsets(window.kernel_height, window.dilation_y, window.stride_y, block.height),
            .columns = used_offsets(window.kernel_width, window.dilation_x, window.stride_x, block.width)};
}

}  // namespace systole::tpu_v1

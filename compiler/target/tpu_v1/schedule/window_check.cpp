#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {
namespace {

/// The windows along an axis.
std::uint64_t positions(std::uint32_t input, std::uint32_t pad_before, std::uint32_t pad_after,
                        std::uint64_t covered, std::uint32_t stride) {
    const std::uint64_t padded = std::uint64_t{input} + pad_before + pad_after;
    return padded < covered ? 0 : (padded - covered) / stride + 1;
}

bool positions_meet(std::uint32_t input, std::uint32_t pad_before, std::uint32_t kernel, std::uint32_t stride,
                    std::uint32_t output) {
    const std::uint64_t last_begins = (std::uint64_t{output} - 1) * stride;
    return pad_before < kernel && last_begins < std::uint64_t{pad_before} + input;
}

}  // namespace

void check_window(const LayerView& view, const ir::Window& window) {
    const ir::FeatureMap& input = view.input().shape;
    const ir::FeatureMap& output = view.output().shape;
    view.require(
        window.kernel_height > 0 && window.kernel_width > 0 && window.stride_y > 0 && window.stride_x > 0,
        "kernel and strides must be at least 1");
    const std::uint64_t lines =
        positions(input.height, window.pad_top, window.pad_bottom,
                  ir::covered_extent(window.kernel_height, window.dilation_y), window.stride_y);
    const std::uint64_t columns =
        positions(input.width, window.pad_left, window.pad_right,
                  ir::covered_extent(window.kernel_width, window.dilation_x), window.stride_x);
    const bool lines_fit = view.layer.part_of ? output.height <= lines : output.height == lines;
    view.require(lines_fit && output.width == columns,
                 "the output's height and width must be the number of windows");
}

bool windows_meet_image(const LayerView& view, const ir::Window& window) {
    const ir::FeatureMap& input = view.input().shape;
    const ir::FeatureMap& output = view.output().shape;
    return positions_meet(input.height, window.pad_top, window.kernel_height, window.stride_y,
                          output.height) &&
           positions_meet(input.width, window.pad_left, window.kernel_width, window.stride_x, output.width);
}

}  // namespace systole::tpu_v1

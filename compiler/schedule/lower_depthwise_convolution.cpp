// A depthwise convolution: a convolution whose weight matrix is zero wherever input and output channel do
// not belong together. Tiles that have nothing but such zeros are neither stored nor streamed.
#include "compiler/schedule/lower_matrix.h"
#include "compiler/schedule/window_check.h"

namespace systole::schedule {

void plan(const quantized::DepthwiseConvolution& convolution, const LayerView& view, LayerPlan& plan) {
    const ir::Window& window = convolution.window;
    const std::uint32_t input_channels = view.input().shape.channels;
    const std::uint32_t multiplier = convolution.channel_multiplier;
    const std::uint64_t weights =
        std::uint64_t{window.kernel_height} * window.kernel_width * input_channels * multiplier;
    check_window(view, window);
    view.require(std::uint64_t{input_channels} * multiplier == view.output().shape.channels,
                 "the output channels must be input channels * channel multiplier");
    check_weights(view, convolution.weights.size(), weights, convolution.requantization);
    check_lines(view);
    plan.kind = "depthwise_convolution";
    plan.tiling = depthwise_tiling(window, input_channels, multiplier, view.target.geometry);
}

void lower(const quantized::DepthwiseConvolution&, PassContext& context) {
    lower_matrix_work<ConvolveLines>(context);
}

}  // namespace systole::schedule

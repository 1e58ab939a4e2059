// A convolution: windows streamed through the array against the tiles of its weight matrix, which has a row
// for each window element and a column for each filter.
#include "compiler/schedule/lower_matrix.h"
#include "compiler/schedule/window_check.h"

namespace systole::schedule {

void plan(const quantized::Convolution& convolution, const LayerView& view, LayerPlan& plan) {
    const ir::Window& window = convolution.window;
    const std::uint64_t elements =
        std::uint64_t{window.kernel_height} * window.kernel_width * view.input().shape.channels;
    const std::uint32_t filters = view.output().shape.channels;
    check_window(view, window);
    check_weights(view, convolution.weights.size(), elements * filters, convolution.requantization);
    check_lines(view);
    plan.kind = "convolution";
    plan.tiling = dense_tiling(elements, filters, view.target.geometry);
}

void lower(const quantized::Convolution&, PassContext& context) {
    lower_matrix_work<ConvolveLines>(context);
}

}  // namespace systole::schedule

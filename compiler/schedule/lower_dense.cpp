// A dense layer: one row of the input tensor of each image meets one tile, the next rows the next tiles.
#include "compiler/schedule/lower_matrix.h"

namespace systole::schedule {

void plan(const quantized::Dense& dense, const LayerView& view, LayerPlan& plan) {
    const std::uint64_t inputs = view.input().shape.elements();
    const std::uint32_t outputs = view.output().shape.channels;
    view.require(view.output().shape.elements() == outputs, "the output of a dense layer must be a vector");
    check_weights(view, dense.weights.size(), inputs * outputs, dense.requantization);
    plan.kind = "dense";
    plan.tiling = dense_tiling(inputs, outputs, view.target.geometry);
}

void lower(const quantized::Dense&, PassContext& context) {
    lower_matrix_work<MultiplyImages>(context);
}

}  // namespace systole::schedule

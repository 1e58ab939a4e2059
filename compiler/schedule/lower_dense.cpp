// A dense layer: one row of the input tensor of each image (two of 16-bit elements) meets one tile, the next
// rows the next tiles. Of several inputs, each has tiles of its own; their products add up.
#include "compiler/schedule/lower_matrix.h"

namespace systole::schedule {

void plan(const quantized::Dense& dense, const LayerView& view, LayerPlan& plan) {
    std::vector<std::uint64_t> inputs;
    std::uint64_t all_inputs = 0;
    for (std::size_t i = 0; i < view.layer.inputs.size(); ++i) {
        view.require(view.input(i).type == view.input().type, "inputs of a dense layer must be of one type");
        inputs.push_back(view.input(i).shape.elements());
        all_inputs += inputs.back();
    }
    const std::uint32_t outputs = view.output().shape.channels;
    view.require(view.output().shape.elements() == outputs, "the output of a dense layer must be a vector");
    check_weights(view, dense.weights.size(), all_inputs * outputs, dense.requantization);
    plan.kind = "dense";
    plan.tiling = dense_tiling(inputs, outputs, view.target.geometry);
}

void lower(const quantized::Dense&, PassContext& context) {
    lower_matrix_work<MultiplyImages>(context);
}

}  // namespace systole::schedule

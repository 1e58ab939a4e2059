// An addition of two tensors: vector work on whole rows.
#include "compiler/schedule/lower_elementwise.h"

namespace systole::schedule {

void plan(const quantized::Add&, const LayerView& view, LayerPlan& plan) {
    view.require(view.layer.inputs.size() == 2, "an addition must have two inputs");
    const quantized::Tensor& a = view.input(0);
    const quantized::Tensor& b = view.input(1);
    const quantized::Tensor& sum = view.output();
    view.require(a.shape == b.shape && a.shape == sum.shape, "inputs and output must have one shape");
    if (a.is_signed != b.is_signed || a.is_signed != sum.is_signed) {
        view.reject("int8 and uint8 tensors are mixed; inputs and output of an addition must be the same");
    }
    plan.kind = "add";
}

void lower(const quantized::Add&, PassContext& context) {
    lower_elementwise(context);
}

}  // namespace systole::schedule

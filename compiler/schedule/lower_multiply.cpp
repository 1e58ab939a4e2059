// A product of two tensors, element by element: vector work on whole rows.
#include "compiler/schedule/lower_elementwise.h"

namespace systole::schedule {

void plan(const quantized::Multiply&, const LayerView& view, LayerPlan& plan) {
    view.require(view.layer.inputs.size() == 2, "a product must have two inputs");
    check_operands(view);
    plan.kind = "multiply";
}

void lower(const quantized::Multiply&, PassContext& context) {
    lower_elementwise(context);
}

}  // namespace systole::schedule

// An addition of two tensors: vector work on whole rows.
#include "compiler/schedule/lower_elementwise.h"

namespace systole::schedule {

void plan(const quantized::Add&, const LayerView& view, LayerPlan& plan) {
    view.require(view.layer.inputs.size() == 2, "an addition must have two inputs");
    check_operands(view);
    plan.kind = "add";
}

void lower(const quantized::Add&, PassContext& context) {
    lower_elementwise(context);
}

}  // namespace systole::schedule

// A lookup: vector work on whole rows, a byte at a time through a table.
#include "compiler/schedule/lower_elementwise.h"

namespace systole::schedule {

void plan(const quantized::Lookup&, const LayerView& view, LayerPlan& plan) {
    view.require(view.input().shape.elements() == view.output().shape.elements(),
                 "a lookup keeps the number of elements");
    plan.kind = "lookup";
}

void lower(const quantized::Lookup&, PassContext& context) {
    lower_elementwise(context);
}

}  // namespace systole::schedule

// A lookup: vector work on whole rows, an element at a time through a table.
#include "compiler/schedule/lower_elementwise.h"

namespace systole::schedule {

void plan(const quantized::Lookup& lookup, const LayerView& view, LayerPlan& plan) {
    view.require(view.input().shape.elements() == view.output().shape.elements(),
                 "a lookup keeps the number of elements");
    const bool wide = std::holds_alternative<quantized::WideTable>(lookup.table);
    view.require((bytes_of(view.input().type) == 2) == wide && (bytes_of(view.output().type) == 2) == wide,
                 "a lookup's input and output are as wide as its table's entries");
    plan.kind = "lookup";
}

void lower(const quantized::Lookup&, PassContext& context) {
    lower_elementwise(context);
}

}  // namespace systole::schedule

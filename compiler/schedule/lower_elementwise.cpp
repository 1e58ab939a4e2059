#include "compiler/schedule/lower_elementwise.h"

namespace systole::schedule {

void lower_elementwise(PassContext& context) {
    const std::uint32_t rows = context.images * context.image_rows;
    for (const Piece& piece : cut_evenly(rows, context.accumulators.part(AccumulatorParts::halves))) {
        context.operations.emplace_back(ElementwiseRows{.layer = context.layer, .rows = piece});
    }
}

}  // namespace systole::schedule

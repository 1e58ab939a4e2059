#pragma once

#include "compiler/schedule/lowering.h"

namespace systole::schedule {

/// Checks the two operands and the result of element-wise work: one shape, one type. Throws std::logic_error
/// or ModelError.
void check_operands(const LayerView& view);

/// Whether instructions take the layer's rows image by image: images of an operand or the result have more
/// rows than are worked on, or rows end within an element. Otherwise all rows follow each other.
bool works_by_image(const LayerView& view, const MemoryPlan& memory);

/// Appends element-wise work on all rows of the output, in pieces of half the accumulators' rows: the size
/// of the pieces that layers before and behind work on, so that they can overlap. By image, pieces are of
/// whole images.
void lower_elementwise(PassContext& context);

}  // namespace systole::schedule

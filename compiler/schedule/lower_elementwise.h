#pragma once

#include "compiler/schedule/lowering.h"

namespace systole::schedule {

/// Appends element-wise work on all rows of the output, in pieces of half the accumulators' rows: the size
/// of the pieces that layers before and behind work on, so that they can overlap.
void lower_elementwise(PassContext& context);

}  // namespace systole::schedule

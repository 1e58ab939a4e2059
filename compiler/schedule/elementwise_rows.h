#pragma once

#include "compiler/schedule/lowering.h"

namespace systole::schedule {

/// Whether instructions take the layer's rows image by image: images of an operand or the result have more
/// rows than are worked on, or rows end within an element. Otherwise all rows follow each other.
bool works_by_image(const LayerView& view, const MemoryPlan& memory);

}  // namespace systole::schedule

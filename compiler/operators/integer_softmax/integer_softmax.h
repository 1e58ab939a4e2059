#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// Of an integer_softmax of bytes: exp(-d), with 31 fractional bits, for stored numbers d below the largest
/// one, d from 0 to 255; 0 where TFLite's kernel leaves an element out.
std::vector<std::int32_t> softmax_exponentials(const ir::NodeView& node);

}  // namespace systole::operators

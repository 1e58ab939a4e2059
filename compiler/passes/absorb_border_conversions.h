#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// A `quantize` that alone reads an input of the network makes the input one of integers, and a `dequantize`
/// that makes an output gives way to its integers: files are converted where they are read and
/// written, by the rule of the node (Value::conversion).
ir::Graph absorb_border_conversions(ir::Graph graph);

}  // namespace systole::passes

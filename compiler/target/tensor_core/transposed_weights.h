#pragma once

#include "compiler/ir/graph.h"

/// The array takes weights by rows or by columns. So a product whose second operand is another value with its
/// last two axes exchanged, such as the keys of attention, reads that value as it lies.
namespace systole::tensor_core {

ir::Graph with_transposed_weights(ir::Graph graph);

}  // namespace systole::tensor_core

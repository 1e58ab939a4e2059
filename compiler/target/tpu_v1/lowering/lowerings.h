#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// Which nodes of a graph the chip computes: those of the operators in the table of lowerings.cpp, on
/// integers alone, on images and vectors, and with a rounding that the activation unit has: it multiplies by
/// fixed-point numbers or in float64, never in float32 (float_half_even). The host computes the others.
std::vector<bool> nodes_on_chip(const ir::Graph& graph);
/// Adds the work of a node that the chip computes. Throws ModelError with the layer if it cannot after all.
void lower_node(const ir::NodeView& node, Lowering& lowering);

// What the table names: how the chip computes an operator and, where it cannot compute all of its nodes,
// which.

void lower_average_pool(const ir::NodeView& node, Lowering& lowering);
void lower_max_pool(const ir::NodeView& node, Lowering& lowering);
void lower_zero_padding(const ir::NodeView& node, Lowering& lowering);
bool is_of_bytes(const ir::NodeView& node);

void lower_convolution(const ir::NodeView& node, Lowering& lowering);
void lower_dense(const ir::NodeView& node, Lowering& lowering);
void lower_depthwise_convolution(const ir::NodeView& node, Lowering& lowering);
bool fits_accumulators(const ir::NodeView& node);

/// Whether the activation unit rounds a node's results halves to even: the flag of its instructions. Throws
/// std::logic_error for a rounding that it does not have, with which a node is not the chip's.
bool rounds_to_even(const ir::Node& node);

void lower_add(const ir::NodeView& node, Lowering& lowering);
void lower_multiply(const ir::NodeView& node, Lowering& lowering);

void lower_concat(const ir::NodeView& node, Lowering& lowering);
bool concatenates_channels(const ir::NodeView& node);

void lower_lookup(const ir::NodeView& node, Lowering& lowering);
/// The table of a lookup, which may be fused with other work.
Table table_of(const ir::NodeView& lookup);

void lower_reshape(const ir::NodeView& node, Lowering& lowering);
bool reshapes_maps(const ir::NodeView& node);
void lower_slice(const ir::NodeView& node, Lowering& lowering);

}  // namespace systole::tpu_v1

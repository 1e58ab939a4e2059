#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// Which nodes of a graph the chip computes: those of the operators in the table of lowerings.cpp, on
/// integers alone, on images and vectors, and with a rounding that the activation unit has: it multiplies by
/// fixed-point numbers or in float64, never in float32 (float_half_even). The host computes the others.
std::vector<bool> nodes_on_chip(const ir::Graph& graph, const ChipAbilities& chip = {});
/// What computes nodes of an operator, by that table: "chip", "chip, some nodes" or "host".
std::string_view place_of(const ir::Operator& op);
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

/// Transpositions between [1, sequence, heads, depth] and [1, heads, sequence, depth] that are part of the
/// array's products of computed matrices: before a product, which reads its operand as it was, or behind one,
/// which writes its result exchanged.
class SwappedHeads {
public:
    SwappedHeads(const ir::Graph& graph, const std::vector<bool>& on_chip);

    bool is_part(ir::NodeId node) const { return places_[node] != Place::Elsewhere; }
    /// The node before which the product reads this input; null if it reads the input as it is.
    const ir::Node* before(const ir::Node& product, std::size_t input) const;
    /// The node that is part of the product behind it; null if none is.
    const ir::Node* behind(const ir::Node& product) const;

private:
    enum class Place : std::uint8_t { Elsewhere, BeforeProducts, BehindProduct };

    const ir::Graph& graph_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<ir::NodeId>> producers_;
    std::vector<Place> places_;  ///< by node
};

void lower_swapped_heads(const ir::NodeView& node, Lowering& lowering);
void lower_matrix_product(const ir::NodeView& node, Lowering& lowering);
/// Whether the array can multiply two computed matrices, one of which becomes weights.
bool can_write_weights(const ir::NodeView& node, const ChipAbilities& chip);

/// Whether the activation unit rounds a node's results halves to even: the flag of its instructions. Throws
/// std::logic_error for a rounding that it does not have, with which a node is not the chip's.
bool rounds_to_even(const ir::Node& node);

void lower_add(const ir::NodeView& node, Lowering& lowering);
void lower_multiply(const ir::NodeView& node, Lowering& lowering);

void lower_concat(const ir::NodeView& node, Lowering& lowering);
bool is_concatenated_on_chip(const ir::NodeView& node);
/// Whether a node puts positions, [1][1][channels] each, one behind the other.
bool concatenates_positions(const ir::NodeView& node);

void lower_lookup(const ir::NodeView& node, Lowering& lowering);
/// The table of a lookup, which may be fused with other work.
Table table_of(const ir::NodeView& lookup);

void lower_reshape(const ir::NodeView& node, Lowering& lowering);
bool reshapes_maps(const ir::NodeView& node);
void lower_slice(const ir::NodeView& node, Lowering& lowering);
/// Whether a strided slice takes one pixel of an image, or its first channels.
bool takes_position(const ir::NodeView& node);
void lower_position(const ir::NodeView& node, Lowering& lowering);

}  // namespace systole::tpu_v1

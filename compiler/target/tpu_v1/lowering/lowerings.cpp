#include "compiler/target/tpu_v1/lowering/lowerings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/message_text.h"
#include "base/rounding.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/pairwise.h"

namespace systole::tpu_v1 {
namespace {

/// How the chip computes an operator.
struct OperatorLowering {
    std::string_view op;
    void (*lower)(const ir::NodeView& node, Lowering& lowering);
    /// Whether the chip can compute a node; null if it can compute all.
    bool (*can_compute)(const ir::NodeView& node) = nullptr;
};

/// The operators of the chip. The host computes all others.
constexpr std::array<OperatorLowering, 15> lowerings{{
    {"add", lower_add, operators::pairs_activations},
    {"average_pool", lower_average_pool, is_of_bytes},
    {"concat", lower_concat, is_concatenated_on_chip},
    {"convolution", lower_convolution, fits_accumulators},
    {"dense", lower_dense, fits_accumulators},
    {"depthwise_convolution", lower_depthwise_convolution, fits_accumulators},
    {"lookup", lower_lookup},
    {"matrix_product", lower_matrix_product},
    {"max_pool", lower_max_pool, is_of_bytes},
    {"multiply", lower_multiply, operators::pairs_activations},
    {"reshape", lower_reshape, reshapes_maps},
    {"slice", lower_slice},
    {"strided_slice", lower_position, takes_position},
    {"transpose", lower_swapped_heads, [](const ir::NodeView&) { return false; }},  // as part of products
    {"zero_padding", lower_zero_padding, is_of_bytes},
}};

const OperatorLowering* lowering_of(const ir::Operator& op) {
    const auto found = std::ranges::find(lowerings, op.name(), &OperatorLowering::op);
    return found == lowerings.end() ? nullptr : &*found;
}

/// Whether the activation unit has the node's rounding, if it has one.
bool rounds_on_chip(const ir::Node& node) {
    return !node.op->declares("rounding") || operators::rounding_of(node) != Rounding::FloatHalfEven;
}

/// Whether the chip computes a node only as a part of a recurrence, where it would go to the host and back
/// in each step.
bool is_for_recurrences(const ir::NodeView& node) {
    return node.node().is("strided_slice") || (node.node().is("concat") && concatenates_positions(node));
}

bool is_on_chip(const ir::Graph& graph, const ir::Node& node, const ChipAbilities& chip,
                const std::set<std::string_view>& repeated) {
    const OperatorLowering* const lowering = lowering_of(*node.op);
    if (lowering == nullptr || !rounds_on_chip(node)) return false;
    if (is_for_recurrences({graph, node}) && !repeated.contains(node.name)) return false;
    const auto is_for_host = [&](ir::ValueId id) {
        const ir::Value& value = graph.values[id];
        return !value.constant && (!is_integer(value.type) || !ir::is_feature_map(value.shape));
    };
    if (std::ranges::any_of(node.inputs, is_for_host)) return false;
    if (std::ranges::any_of(node.outputs, is_for_host)) return false;
    if (node.is("matrix_product")) return can_write_weights({graph, node}, chip);
    return lowering->can_compute == nullptr || lowering->can_compute({graph, node});
}

}  // namespace

std::string_view place_of(const ir::Operator& op) {
    const OperatorLowering* const lowering = lowering_of(op);
    if (lowering == nullptr) return "host";
    const bool is_for_all =
        lowering->can_compute == nullptr && !op.declares("rounding") && op.name() != "matrix_product";
    return is_for_all ? "chip" : "chip, some nodes";
}

std::vector<bool> nodes_on_chip(const ir::Graph& graph, const ChipAbilities& chip) {
    std::vector<bool> on_chip;
    on_chip.reserve(graph.nodes.size());
    const std::set<std::string_view> repeated(graph.repeated.begin(), graph.repeated.end());
    for (const ir::Node& node : graph.nodes) on_chip.push_back(is_on_chip(graph, node, chip, repeated));
    if (!chip.writes_weights) return on_chip;
    const SwappedHeads swapped(graph, on_chip);
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (swapped.is_part(id)) on_chip[id] = true;
    }
    return on_chip;
}

bool rounds_to_even(const ir::Node& node) {
    switch (operators::rounding_of(node)) {
        case Rounding::Tflite:
            return false;
        case Rounding::HalfToEven:
            return true;
        case Rounding::FloatHalfEven:
            break;
    }
    throw std::logic_error(
        fmt::format("{} rounds as float_half_even, as the activation unit does not", in_quotes(node.name)));
}

void lower_node(const ir::NodeView& node, Lowering& lowering) {
    lowering_of(*node.node().op)->lower(node, lowering);
}

}  // namespace systole::tpu_v1

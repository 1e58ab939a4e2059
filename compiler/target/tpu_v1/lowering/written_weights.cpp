// Products of two computed matrices: the second one becomes weights, which the program writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/data_type.h"
#include "base/fixed_point.h"
#include "compiler/ir/encoding.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/matrix_product/matrix_product.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"

namespace systole::tpu_v1 {
namespace {

/// The zero point of the second operand in the array, where a uint8 has become an int8.
std::int32_t written_zero_point(const ir::NodeView& node) {
    constexpr std::int32_t becomes_signed = 128;
    const ir::Encoding encoding = ir::encoding_of(node.input(1));
    return encoding.type == DataType::Uint8 ? encoding.zero_point - becomes_signed : encoding.zero_point;
}

/// Whether a node exchanges the second and the third of four axes, [1, sequence, heads, depth] and
/// [1, heads, sequence, depth], and changes nothing else.
bool swaps_heads(const ir::Graph& graph, const ir::Node& node) {
    static const std::vector<std::int64_t> swapped{0, 2, 1, 3};
    if (!node.is("transpose") || node.integers("permutation") != swapped) return false;
    const ir::Value& from = graph.values[node.inputs.front()];
    const ir::Value& to = graph.values[node.output()];
    return !from.constant && is_integer(from.type) && from.quantization && to.quantization &&
           ir::is_feature_map(from.shape) && operators::is_stored_alike(from, to);
}

}  // namespace

SwappedHeads::SwappedHeads(const ir::Graph& graph, const std::vector<bool>& on_chip)
    : graph_(graph),
      readers_(ir::readers(graph)),
      producers_(ir::producers(graph)),
      places_(graph.nodes.size(), Place::Elsewhere) {
    const auto is_output = [&](ir::ValueId value) {
        return std::ranges::find(graph.outputs, value) != graph.outputs.end();
    };
    const auto is_product = [&](ir::NodeId id) {
        return on_chip[id] && graph.nodes[id].is("matrix_product");
    };
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        if (!swaps_heads(graph, node)) continue;
        const ir::ValueId from = node.inputs.front();
        const auto maker = producers_[from];
        if (maker && is_product(*maker) && readers_[from].size() == 1 && !is_output(from)) {
            places_[id] = Place::BehindProduct;
            continue;
        }
        const auto& readers = readers_[node.output()];
        const bool is_before =
            !readers.empty() && !is_output(node.output()) && std::ranges::all_of(readers, is_product);
        if (is_before) places_[id] = Place::BeforeProducts;
    }
}

bool SwappedHeads::swaps_input(const ir::Node& product, std::size_t input) const {
    const auto maker = producers_[product.inputs[input]];
    return maker && places_[*maker] == Place::BeforeProducts;
}

const ir::Node* SwappedHeads::behind(const ir::Node& product) const {
    const auto& readers = readers_[product.output()];
    if (readers.size() != 1 || places_[readers.front()] != Place::BehindProduct) return nullptr;
    return &graph_.nodes[readers.front()];
}

bool can_write_weights(const ir::NodeView& node, const ChipAbilities& chip) {
    if (!chip.writes_weights || node.node().integer("transposed_a") != 0) return false;
    const ir::Value& a = node.input(0);
    const ir::Value& b = node.input(1);
    if (a.constant || b.constant || !node.output().quantization) return false;
    // Matrices of an image's lines. With fewer axes, a matrix lies in the channels of one pixel.
    constexpr std::size_t least_axes = 3;
    const std::size_t rank = a.shape.rank();
    if (rank < least_axes || b.shape.rank() != rank || node.output().shape.rank() != rank) return false;
    for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
        if (a.shape[axis] != b.shape[axis]) return false;
    }
    if (!chip.row_sums && written_zero_point(node) != 0) return false;
    // Its negative is streamed once, as an int8 or a uint8.
    return -ir::encoding_of(a).zero_point >= lowest_of(DataType::Int8);
}

void lower_swapped_heads(const ir::NodeView& node, Lowering& lowering) {
    lowering.share_tensor(node.node().output(), lowering.tensor_of(node.node().inputs.front()));
}

void lower_matrix_product(const ir::NodeView& node, Lowering& lowering) {
    const SwappedHeads swapped(lowering.graph(), lowering.host_plan().on_chip);
    const DataType type = node.output().type;
    const std::size_t channels = node.output_map().channels;
    const ir::Node* const behind = swapped.behind(node.node());
    MatrixProduct product{
        .window = ir::Window{},
        .groups = 1,
        .weights = {},
        .weight_type = DataType::Int8,
        .weight_zero_point = written_zero_point(node),
        .requantization = {.bias = std::vector<std::int32_t>(channels),
                           .multiplier = std::vector<std::int32_t>(channels),
                           .shift = std::vector<std::int8_t>(channels),
                           .zero_point = ir::encoding_of(node.output()).zero_point,
                           .minimum = lowest_of(type),
                           .maximum = highest_of(type),
                           .table = {},
                           .half_to_even = rounds_to_even(node.node())},
        .written = MatrixProduct::Written{.transposed = node.node().integer("transposed_b") != 0,
                                          .swapped_input = swapped.swaps_input(node.node(), 0),
                                          .swapped_weights = swapped.swaps_input(node.node(), 1),
                                          .swapped_output = behind != nullptr}};
    if (node.graph().has_weights) {
        const FixedPoint multiplier = operators::product_multiplier(node);
        product.requantization.multiplier.assign(channels, multiplier.multiplier);
        product.requantization.shift.assign(channels, static_cast<std::int8_t>(multiplier.shift));
    }
    ir::ValueId result = node.node().output();
    if (behind != nullptr) {
        result = behind->output();
    } else if (const ir::Node* const lookup = lowering.lookup_after(result)) {
        product.requantization.table = table_of(ir::NodeView(node.graph(), *lookup));
        result = lookup->output();
    }
    lowering.add_layer(node.node(), result, std::move(product));
}

}  // namespace systole::tpu_v1

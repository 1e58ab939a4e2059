// Products of two computed matrices: the second one becomes weights, which the program writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

/// What a transposition of [1, sequence, heads, depth] or [1, heads, sequence, depth] exchanges, beside
/// nothing.
struct Exchanged {
    bool heads = false;     ///< the second and the third axis
    bool matrices = false;  ///< then the last two
};

std::optional<Exchanged> exchanged_by(const ir::Graph& graph, const ir::Node& node) {
    if (!node.is("transpose")) return std::nullopt;
    const ir::Value& from = graph.values[node.inputs.front()];
    const ir::Value& to = graph.values[node.output()];
    const bool is_stored = !from.constant && is_integer(from.type) && from.quantization && to.quantization;
    if (!is_stored || !ir::is_feature_map(from.shape) || !operators::is_stored_alike(from, to))
        return std::nullopt;
    using Permutation = std::vector<std::int64_t>;
    const Permutation& permutation = node.integers("permutation");
    if (permutation == Permutation{0, 2, 1, 3}) return Exchanged{.heads = true};
    if (permutation == Permutation{0, 2, 3, 1}) return Exchanged{.heads = true, .matrices = true};
    if (permutation == Permutation{0, 1, 3, 2}) return Exchanged{.matrices = true};
    return std::nullopt;
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
        const auto exchanged = exchanged_by(graph, node);
        if (!exchanged) continue;
        const ir::ValueId from = node.inputs.front();
        const auto maker = producers_[from];
        if (!exchanged->matrices && maker && is_product(*maker) && readers_[from].size() == 1 &&
            !is_output(from)) {
            places_[id] = Place::BehindProduct;
            continue;
        }
        // Weights may be exchanged in any way, streamed rows only as heads.
        const auto takes = [&](ir::NodeId reader) {
            const bool streams = graph.nodes[reader].inputs.front() == node.output();
            return is_product(reader) && !(streams && exchanged->matrices);
        };
        const auto& readers = readers_[node.output()];
        if (!readers.empty() && !is_output(node.output()) && std::ranges::all_of(readers, takes))
            places_[id] = Place::BeforeProducts;
    }
}

const ir::Node* SwappedHeads::before(const ir::Node& product, std::size_t input) const {
    const auto maker = producers_[product.inputs[input]];
    return maker && places_[*maker] == Place::BeforeProducts ? &graph_.nodes[*maker] : nullptr;
}

const ir::Node* SwappedHeads::behind(const ir::Node& product) const {
    const auto& readers = readers_[product.output()];
    if (readers.size() != 1 || places_[readers.front()] != Place::BehindProduct) return nullptr;
    return &graph_.nodes[readers.front()];
}

bool can_write_weights(const ir::NodeView& node, const ChipAbilities& chip) {
    if (!chip.writes_weights || !node.output().quantization || !operators::multiplies_pairs(node))
        return false;
    if (!chip.row_sums && written_zero_point(node) != 0) return false;
    // Its negative is streamed once, as an int8 or a uint8.
    return -ir::encoding_of(node.input(0)).zero_point >= lowest_of(DataType::Int8);
}

void lower_swapped_heads(const ir::NodeView& node, Lowering& lowering) {
    lowering.share_tensor(node.node().output(), lowering.tensor_of(node.node().inputs.front()));
}

void lower_matrix_product(const ir::NodeView& node, Lowering& lowering) {
    const SwappedHeads swapped(lowering.graph(), lowering.host_plan().on_chip);
    const DataType type = node.output().type;
    const std::size_t channels = node.output_map().channels;
    const ir::Node* const behind = swapped.behind(node.node());
    const auto exchanged_before = [&](std::size_t input) {
        const ir::Node* const before = swapped.before(node.node(), input);
        return before == nullptr ? Exchanged{} : exchanged_by(node.graph(), *before).value();
    };
    const Exchanged weights = exchanged_before(1);
    MatrixProduct product{.window = ir::Window{},
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
                          .written = MatrixProduct::Written{
                              .transposed = (node.node().integer("transposed_b") != 0) != weights.matrices,
                              .swapped_input = exchanged_before(0).heads,
                              .swapped_weights = weights.heads,
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

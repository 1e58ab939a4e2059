#include "compiler/schedule/layer_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/schedule/lowering.h"
#include "compiler/schedule/siblings.h"

namespace systole::schedule {
namespace {

/// The parts of an operation that more than one kind has.
struct RequantizationOf {
    const quantized::Requantization* operator()(const quantized::Convolution& c) const {
        return &c.requantization;
    }
    const quantized::Requantization* operator()(const quantized::DepthwiseConvolution& c) const {
        return &c.requantization;
    }
    const quantized::Requantization* operator()(const quantized::Dense& d) const { return &d.requantization; }
    const quantized::Requantization* operator()(const quantized::Pool&) const { return nullptr; }
    const quantized::Requantization* operator()(const quantized::Add&) const { return nullptr; }
    const quantized::Requantization* operator()(const quantized::Multiply&) const { return nullptr; }
    const quantized::Requantization* operator()(const quantized::Lookup&) const { return nullptr; }
    const quantized::Requantization* operator()(const quantized::Concat&) const { return nullptr; }
    const quantized::Requantization* operator()(const quantized::Slice&) const { return nullptr; }
};

void check_ids(const LayerView& view) {
    const std::size_t tensors = view.network.tensors.size();
    view.require(!view.layer.inputs.empty() && view.layer.output < tensors, "it must have inputs and output");
    for (const quantized::TensorId id : view.layer.inputs) {
        view.require(id < tensors, "its inputs must be tensors of the network");
        view.require(view.input().shape.elements() > 0, "its tensors must have elements");
    }
    view.require(view.output().shape.elements() > 0, "its tensors must have elements");
}

void check_weight_memory(const quantized::Network& network, const Target& target, std::uint64_t tiles) {
    const isa::Geometry& array = target.geometry;
    const std::uint64_t tile_bytes = std::uint64_t{array.rows} * array.columns;
    if (tiles > target.weight_memory_bytes / tile_bytes) {
        throw ModelError(
            fmt::format("{}: its weights take {} tiles of {} x {} bytes; the weight memory has {} bytes",
                        network.name, tiles, array.rows, array.columns, target.weight_memory_bytes));
    }
}

/// Output channels of each leader and of all that are joined to it; of other layers, nothing.
std::vector<std::uint32_t> joined_channels(const quantized::Network& network,
                                           const std::vector<std::uint32_t>& leaders) {
    std::vector<std::uint32_t> channels(leaders.size());
    for (std::size_t l = 0; l < leaders.size(); ++l) {
        channels[leaders[l]] += network.tensors[network.layers[l].output].shape.channels;
    }
    return channels;
}

/// The leader does the work of the layer.
void join(LayerPlan& layer, std::uint32_t leader, std::vector<LayerPlan>& plans) {
    plans[leader].macs += layer.macs;
    layer.macs = 0;
    layer.tiling = {};
    layer.kind = "joined to " + plans[leader].name;
    layer.joined_to = leader;
}

/// Gives the columns of leaders' tiles to the layers whose channels they are.
void cut_segments(const quantized::Network& network, const Target& target,
                  const std::vector<std::uint32_t>& leaders, std::vector<LayerPlan>& plans) {
    const std::uint32_t array_columns = target.geometry.columns;
    std::vector<std::uint32_t> columns(plans.size());  // given away, of each leader
    for (std::uint32_t l = 0; l < plans.size(); ++l) {
        LayerPlan& plan = plans[leaders[l]];
        if (plan.tiling.tiles == 0) continue;
        plan.segments.resize(plan.tiling.columns.size());
        const std::uint32_t channels = network.tensors[network.layers[l].output].shape.channels;
        for (std::uint32_t first = 0; first < channels;) {
            std::uint32_t& column = columns[leaders[l]];
            const std::uint32_t first_column = column % array_columns;
            const std::uint32_t count = std::min(array_columns - first_column, channels - first);
            plan.segments[column / array_columns].push_back({.layer = l,
                                                             .first_column = first_column,
                                                             .first_channel = first,
                                                             .channels = count,
                                                             .parameters_row = 0});
            column += count;
            first += count;
        }
    }
}

}  // namespace

const quantized::Requantization* requantization(const quantized::Layer& layer) {
    return std::visit(RequantizationOf{}, layer.operation);
}

const quantized::Table* lookup_table(const quantized::Layer& layer) {
    if (const auto* lookup = std::get_if<quantized::Lookup>(&layer.operation)) return &lookup->table;
    const quantized::Requantization* rules = requantization(layer);
    return rules != nullptr && rules->table ? &*rules->table : nullptr;
}

std::vector<std::uint8_t> table_bytes(const quantized::Table& table) {
    if (const auto* bytes = std::get_if<quantized::ByteTable>(&table)) return {bytes->begin(), bytes->end()};
    std::vector<std::uint8_t> bytes;
    for (const std::int16_t entry : std::get<quantized::WideTable>(table)) {
        bytes.push_back(static_cast<std::uint8_t>(entry));
        bytes.push_back(static_cast<std::uint8_t>(entry >> 8));
    }
    return bytes;
}

std::vector<LayerPlan> plan_layers(const quantized::Network& network, const Target& target) {
    constexpr std::size_t most_layers = std::numeric_limits<std::uint16_t>::max();
    if (network.layers.size() > most_layers) {
        throw ModelError(fmt::format("{}: it has {} layers; there may be at most {}", network.name,
                                     network.layers.size(), most_layers));
    }
    for (const quantized::Layer& layer : network.layers) check_ids({network, layer, target});
    const std::vector<std::uint32_t> leaders = find_leaders(network, target.geometry);
    const std::vector<std::uint32_t> channels = joined_channels(network, leaders);
    std::vector<LayerPlan> plans;
    std::uint64_t tiles = 0;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const quantized::Layer& layer = network.layers[l];
        const LayerView view{network, layer, target};
        LayerPlan layer_plan;
        layer_plan.name = layer.name;
        layer_plan.macs = quantized::macs(network, layer);
        std::visit([&](const auto& operation) { plan(operation, view, layer_plan); }, layer.operation);
        if (leaders[l] != l) {
            join(layer_plan, leaders[l], plans);
        } else if (channels[l] > view.output().shape.channels) {
            layer_plan.tiling = dense_tiling(layer_plan.tiling.elements, channels[l], target.geometry);
        }
        layer_plan.first_weight_tile = static_cast<std::uint32_t>(tiles);
        tiles += layer_plan.tiling.tiles;
        check_weight_memory(network, target, tiles);
        plans.push_back(std::move(layer_plan));
    }
    cut_segments(network, target, leaders, plans);
    return plans;
}

}  // namespace systole::schedule

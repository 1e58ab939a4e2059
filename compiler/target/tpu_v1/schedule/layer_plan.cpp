#include "compiler/target/tpu_v1/schedule/layer_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/operands.h"

namespace systole::tpu_v1 {
namespace {

/// The bytes of a weight of a layer; 1 for layers without weights.
std::uint64_t weight_bytes(const Layer& layer, const Target& target) {
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    return product == nullptr ? 1 : bytes_of(array_weights(*product, target).type);
}

/// `bytes` is by weight of a tile: a tile of 16-bit weights counts twice.
bool fits_weight_memory(std::uint64_t bytes, const Target& target) {
    return bytes <= target.weight_memory_bytes / target.geometry.rows / target.geometry.columns;
}

/// `bytes` as in fits_weight_memory.
void check_weight_memory(const Network& network, const Target& target, std::uint64_t tiles,
                         std::uint64_t bytes) {
    const isa::Geometry& array = target.geometry;
    const std::uint64_t tile_bytes = std::uint64_t{array.rows} * array.columns;
    constexpr std::uint64_t most_tiles = std::numeric_limits<std::uint32_t>::max();
    if (tiles > most_tiles) {
        throw ModelError(
            fmt::format("{}: its weights take {} tiles of {} x {} bytes; there may be at most {}",
                        network.name, tiles, array.rows, array.columns, most_tiles));
    }
    if (!fits_weight_memory(bytes, target) && !target.spill_weights) {
        throw ModelError(
            fmt::format("{}: its weights take {} tiles of {} x {} {}, {} bytes in all; the weight memory has "
                        "{} bytes, and weight_memory.spill is false",
                        network.name, tiles, array.rows, array.columns,
                        bytes == tiles ? "bytes" : "weights of 1 or 2 bytes",
                        saturating_product(bytes, tile_bytes), target.weight_memory_bytes));
    }
}

/// Cuts the columns of each column tile of a part into segments, one for each layer, from the first layer's
/// channel `first_channel` on.
void cut_segments(const Network& network, const Target& target, std::span<const std::uint32_t> members,
                  const PlanPart& part, std::uint32_t first_channel, LayerPlan& plan) {
    const std::uint32_t array_columns = target.geometry.columns;
    const std::uint32_t pixels = part.block.pixels();
    plan.segments.resize(part.first_tile + part.column_tiles);
    for (std::uint32_t column = 0; const std::uint32_t layer : members) {
        const std::uint32_t channels = network.tensors[network.layers[layer].output].shape.channels;
        for (std::uint32_t first = first_channel; first < channels && column < part.columns;) {
            const std::uint32_t first_column = column % array_columns;
            const std::uint32_t count = std::min({(array_columns - first_column) / pixels, channels - first,
                                                  (part.columns - column) / pixels});
            plan.segments[part.first_tile + column / array_columns].push_back({.layer = layer,
                                                                               .first_column = first_column,
                                                                               .first_channel = first,
                                                                               .channels = count,
                                                                               .parameters_row = 0,
                                                                               .block = part.block});
            column += count * pixels;
            first += count;
        }
    }
}

/// The plan of a layer that another one computes.
LayerPlan joined_plan(const Network& network, const Target& target, std::uint32_t layer, const LayerPlan& to,
                      std::uint32_t joined_to) {
    LayerPlan plan = plan_group(network, target, std::span(&layer, 1), to.parts.front().block);
    plan.macs = 0;
    plan.tiling = {};
    plan.segments.clear();
    plan.kind = "joined to " + to.name;
    plan.joined_to = joined_to;
    return plan;
}

/// Gives a strip, or a layer that repeats another, the parameters of the first. Other parts of a layer have
/// none.
void share_parameters(const LayerPlan& first, LayerPlan& part) {
    for (std::size_t column = 0; column < part.segments.size(); ++column) {
        for (std::size_t s = 0; s < part.segments[column].size(); ++s) {
            part.segments[column][s].parameters_row = first.segments[column][s].parameters_row;
        }
    }
}

}  // namespace

const PlanPart& part_of_column(const LayerPlan& plan, std::size_t column) {
    return column < plan.parts.back().first_tile ? plan.parts.front() : plan.parts.back();
}

const Requantization* requantization(const Layer& layer) {
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    return product == nullptr ? nullptr : &product->requantization;
}

const Table* lookup_table(const Layer& layer) {
    const OptionalTable* table = nullptr;
    if (const auto* const work = std::get_if<Elementwise>(&layer.work)) table = &work->table;
    if (const auto* const rules = requantization(layer)) table = &rules->table;
    return table != nullptr && *table ? &**table : nullptr;
}

std::vector<std::uint8_t> table_bytes(const Table& table) {
    if (const auto* bytes = std::get_if<ByteTable>(&table)) return {bytes->begin(), bytes->end()};
    std::vector<std::uint8_t> bytes;
    for (const std::int16_t entry : std::get<WideTable>(table)) {
        bytes.push_back(static_cast<std::uint8_t>(entry));
        bytes.push_back(static_cast<std::uint8_t>(entry >> 8));
    }
    return bytes;
}

LayerPlan plan_group(const Network& network, const Target& target, std::span<const std::uint32_t> members,
                     const PixelBlock& block, const ChannelRest& rest) {
    const LayerView view{network, network.layers[members.front()], target};
    const ir::FeatureMap& output = view.output().shape;
    LayerPlan layer_plan;
    layer_plan.name = view.layer.name;
    layer_plan.part_of = view.layer.part_of;
    std::uint32_t channels = 0;
    for (const std::uint32_t member : members) {
        const Layer& layer = network.layers[member];
        layer_plan.macs += layer.macs;
        channels += network.tensors[layer.output].shape.channels;
    }
    const auto add_part = [&](const PixelBlock& of_part, std::uint32_t of_channels) {
        layer_plan.parts.push_back({.block = of_part,
                                    .grid = blocks_of(output, of_part),
                                    .columns = of_channels * of_part.pixels()});
    };
    view.require(rest.first_channel == 0 || (members.size() == 1 && rest.first_channel < channels),
                 "only a layer by itself has a rest of channels");
    add_part(block, rest.first_channel > 0 ? rest.first_channel : channels);
    if (rest.first_channel > 0) add_part(rest.block, channels - rest.first_channel);
    std::visit([&](const auto& work) { plan(work, view, layer_plan); }, view.layer.work);
    if (layer_plan.tiling.tiles == 0) return layer_plan;
    std::uint32_t first_channel = 0;
    for (const PlanPart& part : layer_plan.parts) {
        cut_segments(network, target, members, part, first_channel, layer_plan);
        first_channel = rest.first_channel;
    }
    return layer_plan;
}

namespace {

/// Throws ModelError if the layers that are reported, or the segments of the host, are more than instructions
/// can number.
void check_layers(const Network& network, const std::vector<LayerPlan>& plans) {
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    std::size_t layers = 0;
    for (std::size_t l = 0; l < plans.size(); ++l) {
        if (is_reported(plans[l], l)) ++layers;
    }
    const auto segments = static_cast<std::size_t>(std::ranges::count_if(network.layers, runs_on_host));
    if (layers <= most && segments <= most) return;
    const bool has_many_layers = layers > most;
    throw ModelError(fmt::format("{}: it has {} {}; there may be at most {}", network.name,
                                 has_many_layers ? layers : segments,
                                 has_many_layers ? "layers" : "segments of the host", most));
}

/// Whether a layer, with those joined to it, is computed as the one that it repeats.
bool has_plan_of_repeated(const AnalysedNetwork& analysed, const Target& target, std::uint32_t layer) {
    const Network& network = analysed.network();
    const std::optional<std::uint32_t> first = network.layers[layer].repeats;
    if (!first || analysed.joined_to[*first] != *first) return false;
    const auto repeats = [&](std::uint32_t later, std::uint32_t earlier) {
        return network.layers[later].repeats == earlier;
    };
    return std::ranges::equal(analysed.members[layer], analysed.members[*first], repeats) &&
           block_of(target.choices, layer) == block_of(target.choices, *first) &&
           rest_of(target.choices, layer) == rest_of(target.choices, *first);
}

/// The plan of a layer that repeats another one, with the plan of that one.
LayerPlan repeated_plan(const AnalysedNetwork& analysed, std::uint32_t layer, const LayerPlan& first) {
    const std::uint32_t repeated = *analysed.network().layers[layer].repeats;
    LayerPlan plan = first;
    plan.part_of = repeated;
    plan.macs = 0;
    std::map<std::uint32_t, std::uint32_t> members;
    for (std::size_t i = 0; i < analysed.members[layer].size(); ++i)
        members.emplace(analysed.members[repeated][i], analysed.members[layer][i]);
    for (std::vector<Segment>& column : plan.segments) {
        for (Segment& segment : column) segment.layer = members.at(segment.layer);
    }
    return plan;
}

/// The macs of a layer and those joined to it.
std::uint64_t macs_of(const AnalysedNetwork& analysed, std::uint32_t layer) {
    std::uint64_t macs = 0;
    for (const std::uint32_t member : analysed.members[layer]) macs += analysed.network().layers[member].macs;
    return macs;
}

}  // namespace

std::vector<LayerPlan> plan_layers(const AnalysedNetwork& analysed, const Target& target) {
    const Network& network = analysed.network();
    std::vector<LayerPlan> plans;
    plans.reserve(network.layers.size());
    std::uint64_t tiles = 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const std::uint32_t to = analysed.joined_to[l];
        if (to != l) {
            plans.push_back(joined_plan(network, target, l, plans[to], to));
            // Computed with a layer that repeats one, it repeats what is computed with that.
            const std::optional<std::uint32_t> repeated = network.layers[to].repeats;
            if (repeated && plans[to].part_of == repeated) plans.back().part_of = network.layers[l].repeats;
        } else if (has_plan_of_repeated(analysed, target, l)) {
            const std::uint32_t repeated = *network.layers[l].repeats;
            plans.push_back(repeated_plan(analysed, l, plans[repeated]));
            plans[repeated].macs += macs_of(analysed, l);
        } else {
            plans.push_back(plan_group(network, target, analysed.members[l], block_of(target.choices, l),
                                       rest_of(target.choices, l)));
        }
        LayerPlan& plan = plans.back();
        if (is_reported(plan, l)) {
            plan.first_weight_tile = static_cast<std::uint32_t>(tiles);
            tiles += plan.tiling.tiles;
            bytes += plan.tiling.tiles * weight_bytes(network.layers[l], target);
            plan.spilled = plan.tiling.tiles > 0 && !fits_weight_memory(bytes, target);
        } else if (plan.tiling.tiles > 0) {  // behind the first
            plan.first_weight_tile = plans[*plan.part_of].first_weight_tile;
            plan.spilled = plans[*plan.part_of].spilled;
        }
    }
    check_layers(network, plans);
    check_slices(analysed, target);
    check_weight_memory(network, target, tiles, bytes);
    return plans;
}

std::uint32_t lay_out_constants(const Network& network, const Target& target, std::vector<LayerPlan>& plans) {
    const std::uint64_t row_bytes = target.geometry.rows;
    std::uint64_t next_row = 0;
    const auto take = [&](std::uint64_t bytes) {
        const std::uint64_t row = next_row;
        next_row += divide_up(bytes, row_bytes);
        return static_cast<std::uint32_t>(row);
    };
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (!is_reported(plans[i], i)) {
            const LayerPlan& first = plans[*plans[i].part_of];
            if (lookup_table(network.layers[i]) != nullptr) plans[i].table_row = first.table_row;
            share_parameters(first, plans[i]);
            continue;
        }
        for (std::vector<Segment>& column_tile : plans[i].segments) {
            for (Segment& segment : column_tile) {
                const std::uint64_t columns = std::uint64_t{segment.channels} * segment.block.pixels();
                const isa::Multipliers multipliers =
                    requantization(network.layers[segment.layer])->multipliers();
                segment.parameters_row = take(isa::parameter_bytes(multipliers) * columns);
            }
        }
        if (const auto* table = lookup_table(network.layers[i]))
            plans[i].table_row = take(table_bytes(*table).size());
    }
    if (next_row > target.unified_buffer_rows) {
        throw ModelError(
            fmt::format("{}: requantization parameters and tables take {} bytes; the unified buffer has {}",
                        network.name, next_row * row_bytes, target.unified_buffer_rows * row_bytes));
    }
    return static_cast<std::uint32_t>(next_row);
}

}  // namespace systole::tpu_v1

#include "compiler/target/edge_tpu/parameters.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "hw/isa/weight_blocks.h"
#include "hw/timing/tiles.h"

namespace systole::edge_tpu {
namespace {

/// Where the parameters of a layer begin in host memory.
constexpr std::uint64_t host_alignment = 64;

void compute_on_one_tile(Network& network, Step& step) {
    step.product = isa::TileProduct::Convolve;
    network.tensors[step.result.tensor].form = Form::Image;
}

/// By node: the first node of the same repeated part (ir::Graph::repeated) with the same parameters, or
/// itself. Inputs and results have the same encodings, so bias and multipliers are the same, too.
std::vector<ir::NodeId> nodes_with_same_parameters(const ir::Graph& graph) {
    std::vector<ir::NodeId> first(graph.nodes.size());
    std::iota(first.begin(), first.end(), ir::NodeId{0});
    const auto are_alike = [&](ir::ValueId a, ir::ValueId b) {
        if (graph.values[a].constant || graph.values[b].constant) return a == b;
        return graph.values[a].shape == graph.values[b].shape &&
               graph.values[a].type == graph.values[b].type &&
               graph.values[a].quantization == graph.values[b].quantization;
    };
    const auto are_same = [&](const ir::Node& a, const ir::Node& b) {
        return a.op == b.op && a.attributes == b.attributes &&
               std::ranges::equal(a.inputs, b.inputs, are_alike) &&
               std::ranges::equal(a.outputs, b.outputs, are_alike);
    };
    constexpr std::size_t most_kinds = 8;  // of nodes of one part: those behind have their own parameters
    for (const std::vector<ir::NodeId>& part : ir::repeated_nodes(graph)) {
        std::vector<ir::NodeId> kinds;
        for (const ir::NodeId id : part) {
            const auto known = std::ranges::find_if(
                kinds, [&](ir::NodeId kind) { return are_same(graph.nodes[kind], graph.nodes[id]); });
            if (known != kinds.end()) {
                first[id] = *known;
            } else if (kinds.size() < most_kinds) {
                kinds.push_back(id);
            }
        }
    }
    return first;
}

/// Gives the steps' tables the first units of each tile. `first`: nodes_with_same_parameters.
void place_tables(const Network& network, std::span<const ir::NodeId> first, ParameterPlan& plan) {
    std::map<ir::NodeId, TablePlace> known;
    std::uint32_t used = 0;
    for (const Step& step : network.steps) {
        plan.tables.emplace_back();
        if (step.kind != StepKind::Vector) continue;
        const std::uint32_t units = isa::TileVector{.operation = step.operation}.table_units();
        if (units == 0) continue;
        const std::uint64_t bytes = std::uint64_t{units} * isa::tile_unit_bytes * network.grid.tiles();
        const auto [place, is_new] = known.try_emplace(
            first[step.node], TablePlace{.unit = used, .units = units, .host_address = plan.host_bytes});
        plan.tables.back() = place->second;
        place->second.is_again = true;
        if (!is_new) continue;
        used += units;
        plan.cached_bytes += bytes;
        plan.host_bytes += bytes;
    }
}

}  // namespace

std::uint64_t cache_bytes(const machine::MachineConfig& machine) {
    const machine::TileArrayConfig& array = machine.tile_array;
    const std::uint64_t all = std::uint64_t{machine.wide_memory.bytes} * array.tiles();
    const std::uint64_t buffers = std::uint64_t{array.weight_buffers} * array.weight_buffer_rows *
                                  array.lanes * isa::tile_word * array.tiles();
    const std::uint64_t taken = buffers + machine.parameter_cache.reserved_bytes;
    return taken < all ? all - taken : 0;
}

ParameterPlan plan_parameters(Network& network, const machine::MachineConfig& machine) {
    ParameterPlan plan;
    const std::uint64_t room = cache_bytes(machine) / isa::tile_unit_bytes;
    const std::vector<ir::NodeId> first_node = nodes_with_same_parameters(*network.graph);
    place_tables(network, first_node, plan);
    std::uint64_t used = plan.cached_bytes / isa::tile_unit_bytes;  // units, through all tiles
    bool is_full = false;
    // The place of a product's first strip, or of that of another step with the same parameters, by channels.
    std::map<std::pair<ir::NodeId, std::uint32_t>, std::size_t> known;
    for (Step& step : network.steps) {
        plan.places.emplace_back();
        plan.constants.emplace_back();
        if (step.kind == StepKind::Read) {
            plan.constants.back() = {.host_address = round_up(plan.host_bytes, host_alignment),
                                     .bytes = step.result.shape.elements()};
            plan.host_bytes = plan.constants.back()->host_address + plan.constants.back()->bytes;
            plan.streamed_bytes += plan.constants.back()->bytes;
            continue;
        }
        if (step.kind != StepKind::Multiply) continue;
        const auto [first_strip, is_new] =
            known.emplace(std::pair{first_node[step.node], step.first_output}, plan.places.size() - 1);
        if (!is_new) {
            const bool is_dense = step.product == isa::TileProduct::Dense;
            if (!plan.places[first_strip->second]->cached && is_dense) compute_on_one_tile(network, step);
            ParameterPlace again = *plan.places[first_strip->second];
            again.product = product_of(network, step);
            again.is_again = true;
            if (!again.cached) plan.streamed_bytes += again.bytes;
            plan.places.back() = std::move(again);
            continue;
        }
        ParameterPlace place{.product = product_of(network, step)};
        const isa::WeightBlocks& blocks = place.product.blocks;
        // In wide memory, a dense product begins at the same unit of every tile.
        const bool is_dense = step.product == isa::TileProduct::Dense;
        const std::uint64_t tiles = network.grid.tiles();
        const std::uint64_t first = is_dense ? round_up(used, tiles) : used;
        place.units = is_dense ? isa::dense_passes(blocks, network.grid) * blocks.block_units() * tiles
                               : blocks.groups * blocks.block_units();
        is_full = is_full || first + place.units > room;
        place.cached = !is_full;
        if (place.cached) {
            place.unit = is_dense ? first / tiles : first;
            used = first + place.units;
            place.bytes = place.units * isa::tile_unit_bytes;
            plan.cached_bytes += place.bytes;
        } else {
            if (is_dense) {
                compute_on_one_tile(network, step);
                place.product = product_of(network, step);
            }
            place.bytes = place.product.blocks.block_bytes() * place.product.blocks.groups;
            plan.streamed_bytes += place.bytes;
        }
        place.host_address = round_up(plan.host_bytes, host_alignment);
        plan.host_bytes = place.host_address + place.bytes;
        plan.places.back() = std::move(place);
    }
    return plan;
}

std::vector<std::uint8_t> parameter_bytes(const Network& network, const ParameterPlan& plan) {
    std::vector<std::uint8_t> bytes(plan.host_bytes);
    if (!network.graph->has_weights) return bytes;
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        if (plan.tables[i] && !plan.tables[i]->is_again) {
            // Unit u of tile t is number u * tiles + t of all.
            const std::vector<std::uint8_t> table = table_of(network, network.steps[i]);
            for (std::size_t unit = 0; unit < plan.tables[i]->units; ++unit) {
                for (std::uint64_t tile = 0; tile < network.grid.tiles(); ++tile) {
                    std::copy_n(table.data() + unit * isa::tile_unit_bytes, isa::tile_unit_bytes,
                                bytes.data() + plan.tables[i]->host_address +
                                    (unit * network.grid.tiles() + tile) * isa::tile_unit_bytes);
                }
            }
        }
        if (plan.constants[i]) {
            std::ranges::copy(constant_image(network, network.steps[i]),
                              bytes.begin() + static_cast<std::ptrdiff_t>(plan.constants[i]->host_address));
        }
        if (!plan.places[i] || plan.places[i]->is_again) continue;
        const ParameterPlace& place = *plan.places[i];
        const isa::WeightBlocks& blocks = place.product.blocks;
        const bool is_dense = place.product.multiply.product == isa::TileProduct::Dense;
        for (std::uint64_t group = 0; group < blocks.groups; ++group) {
            const std::vector<std::uint8_t> block = block_of(network, network.steps[i], place.product, group);
            std::uint8_t* const to = bytes.data() + place.host_address;
            if (!is_dense) {
                std::ranges::copy(block, to + group * blocks.block_bytes());
                continue;
            }
            for (std::uint64_t unit = 0; unit < blocks.block_units(); ++unit) {
                const std::uint64_t place_of_unit =
                    isa::dense_unit(blocks, network.grid, 0, group, unit) * isa::tile_unit_bytes;
                std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(unit * isa::tile_unit_bytes),
                            isa::tile_unit_bytes, to + place_of_unit);
            }
        }
    }
    return bytes;
}

}  // namespace systole::edge_tpu

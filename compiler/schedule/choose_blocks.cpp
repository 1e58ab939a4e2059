#include "compiler/schedule/choose_blocks.h"

#include <algorithm>
#include <iterator>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/array_weights.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/lowering.h"
#include "compiler/schedule/mapped_product.h"
#include "compiler/schedule/parallel_layers.h"
#include "compiler/schedule/tensor_parts.h"
#include "hw/base/arithmetic.h"

namespace systole::schedule {
namespace {

/// The sizes of blocks along an axis of `pixels` pixels: for each number of blocks the smallest, because
/// larger ones have more pixels outside the image.
std::vector<std::uint32_t> block_sizes(std::uint32_t pixels) {
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t size = 1; size <= pixels; ++size) {
        const std::uint32_t blocks = divide_up(pixels, size);
        if (divide_up(pixels, blocks) == size) sizes.push_back(size);
    }
    return sizes;
}

/// The blocks with which so many channels fit the columns of the array.
std::vector<mapping::PixelBlock> blocks_that_fit(const ir::FeatureMap& output, std::uint64_t channels,
                                                 std::uint32_t columns) {
    std::vector<mapping::PixelBlock> blocks{{}};
    for (const std::uint32_t height : block_sizes(output.height)) {
        if (height * channels > columns) break;
        for (const std::uint32_t width : block_sizes(output.width)) {
            const mapping::PixelBlock block{.width = width, .height = height};
            if (block.pixels() * channels > columns) break;
            if (block.pixels() > 1) blocks.push_back(block);
        }
    }
    return blocks;
}

}  // namespace

std::vector<mapping::PixelBlock> possible_blocks(const mapping::Network& network, const Target& target,
                                                 std::span<const std::uint32_t> members) {
    const mapping::Layer& first = network.layers[members.front()];
    const auto* const product = std::get_if<mapping::MatrixProduct>(&first.work);
    if (product == nullptr || !product->window) return {{}};
    std::uint64_t channels = 0;
    for (const std::uint32_t member : members) {
        channels += network.tensors[network.layers[member].output].shape.channels;
    }
    return blocks_that_fit(network.tensors[first.output].shape, channels, target.geometry.columns);
}

std::vector<std::vector<mapping::PixelBlock>> possible_blocks(const mapping::Network& network,
                                                              const Target& target) {
    std::vector<std::vector<mapping::PixelBlock>> possible;
    for (const auto& members : members_of_groups(group_parallel_layers(network, target))) {
        possible.push_back(members.empty() ? std::vector<mapping::PixelBlock>(1)
                                           : possible_blocks(network, target, members));
    }
    return possible;
}

std::vector<BlockAlternative> possible_rests(const mapping::Network& network, const Target& target,
                                             std::span<const std::uint32_t> members) {
    std::vector<BlockAlternative> rests;
    const mapping::Layer& layer = network.layers[members.front()];
    const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
    if (members.size() > 1 || product == nullptr || !product->window) return rests;
    const ir::FeatureMap& output = network.tensors[layer.output].shape;
    const std::uint32_t columns = target.geometry.columns;
    const bool fills_tiles = output.channels > columns;
    const std::uint32_t first = fills_tiles ? output.channels / columns * columns : columns / 2;
    if (first == 0 || first >= output.channels) return rests;
    if (product->groups > 1 && first % (output.channels / product->groups) != 0) return rests;
    std::vector<mapping::PixelBlock> first_blocks{{}};
    if (!fills_tiles) {
        first_blocks.clear();
        if (output.width > 1) first_blocks.push_back({.width = 2, .height = 1});
        if (output.height > 1) first_blocks.push_back({.width = 1, .height = 2});
    }
    for (const mapping::PixelBlock& block : first_blocks) {
        for (const mapping::PixelBlock& other : blocks_that_fit(output, output.channels - first, columns)) {
            if (other.pixels() > block.pixels()) {
                rests.push_back({.block = block, .rest = {.first_channel = first, .block = other}});
            }
        }
    }
    return rests;
}

std::vector<BlockAlternative> block_alternatives(const PredictionContext& context,
                                                 std::span<const std::uint32_t> members) {
    const LayerView view{context.network, context.network.layers[members.front()], context.target};
    std::vector<BlockAlternative> alternatives;
    for (const mapping::PixelBlock& block : possible_blocks(context.network, context.target, members)) {
        alternatives.push_back({.block = block});
    }
    if (context.target.mapping.split_channels) {
        std::ranges::move(possible_rests(context.network, context.target, members),
                          std::back_inserter(alternatives));
    }
    for (BlockAlternative& alternative : alternatives) {
        const LayerPlan plan =
            plan_group(context.network, context.target, members, alternative.block, alternative.rest);
        const auto products = mapped_products(view, plan, context.images, context.parts);
        alternative.tiles = plan.tiling.tiles;
        alternative.cycles = mapping::predicted_cycles(products, context.machine);
    }
    return alternatives;
}

std::size_t fastest_alternative(const std::vector<BlockAlternative>& alternatives) {
    const auto fewest = std::ranges::min_element(alternatives, {}, &BlockAlternative::cycles);
    return static_cast<std::size_t>(fewest - alternatives.begin());
}

std::vector<LayerAlternatives> compare_blocks(const mapping::Network& network, const Target& target,
                                              const machine::MachineConfig& machine, const Options& options) {
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::vector<TensorPart> parts = place_parts(network, target.geometry.rows);
    const std::vector<LayerPlan> plans = plan_layers(network, target);
    const auto groups = members_of_groups(group_parallel_layers(network, target));
    std::uint64_t bytes =
        0;  // of the tiles of single pixels and of the chosen blocks: at most a few too many
    std::vector<LayerAlternatives> layers;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const mapping::Layer& layer = network.layers[l];
        const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
        if (product == nullptr || groups[l].empty()) continue;
        bytes += bytes_of_tiles(*product, plans[l].tiling.tiles, target);
        const DataType activations = network.tensors[layer.inputs[0]].type;
        // The program of such a layer is refused with its instruction.
        if (!machine.matrix_unit.passes(activations, array_weights(*product, target).type)) continue;
        if (!product->window) continue;
        LayerAlternatives compared{
            .layers = groups[l],
            .alternatives = block_alternatives({network, target, machine, images, parts}, groups[l]),
            .chosen = 0};
        if (compared.alternatives.size() == 1) continue;
        compared.chosen = fastest_alternative(compared.alternatives);
        if (compared.chosen > 0) {
            bytes += bytes_of_tiles(*product, compared.alternatives[compared.chosen].tiles, target);
        }
        layers.push_back(std::move(compared));
    }
    if (bytes > target.weight_memory_bytes) {
        for (LayerAlternatives& layer : layers) layer.chosen = 0;
    }
    return layers;
}

void set_chosen_blocks(const std::vector<LayerAlternatives>& layers, std::size_t layer_count,
                       Mapping& mapping) {
    mapping.blocks.assign(layer_count, {});
    mapping.rests.assign(layer_count, {});
    for (const LayerAlternatives& layer : layers) {
        const BlockAlternative& chosen = layer.alternatives[layer.chosen];
        for (const std::uint32_t member : layer.layers) mapping.blocks[member] = chosen.block;
        mapping.rests[layer.layers.front()] = chosen.rest;
    }
}

}  // namespace systole::schedule

#include "compiler/schedule/choose_blocks.h"

#include <algorithm>

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

}  // namespace

std::vector<mapping::PixelBlock> possible_blocks(const mapping::Network& network, const Target& target,
                                                 std::span<const std::uint32_t> members) {
    const mapping::Layer& first = network.layers[members.front()];
    const auto* const product = std::get_if<mapping::MatrixProduct>(&first.work);
    std::vector<mapping::PixelBlock> blocks{{}};
    if (product == nullptr || !product->window) return blocks;
    std::uint64_t channels = 0;
    for (const std::uint32_t member : members) {
        channels += network.tensors[network.layers[member].output].shape.channels;
    }
    const ir::FeatureMap& output = network.tensors[first.output].shape;
    for (const std::uint32_t height : block_sizes(output.height)) {
        if (height * channels > target.geometry.columns) break;
        for (const std::uint32_t width : block_sizes(output.width)) {
            const mapping::PixelBlock block{.width = width, .height = height};
            if (block.pixels() * channels > target.geometry.columns) break;
            if (block.pixels() > 1) blocks.push_back(block);
        }
    }
    return blocks;
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

std::vector<LayerAlternatives> compare_blocks(const mapping::Network& network, const Target& target,
                                              const machine::MachineConfig& machine, const Options& options) {
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::vector<TensorPart> parts = place_parts(network);
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
        const std::vector<mapping::PixelBlock> possible = possible_blocks(network, target, groups[l]);
        if (possible.size() == 1) continue;
        const DataType activations = network.tensors[layer.inputs[0]].type;
        // The program of such a layer is refused with its instruction.
        if (!machine.matrix_unit.passes(activations, array_weights(*product, target).type)) continue;
        LayerAlternatives compared{.layers = groups[l], .alternatives = {}, .chosen = 0};
        for (const mapping::PixelBlock& block : possible) {
            const mapping::MappedProduct candidate = mapped_product(
                {network, layer, target}, plan_group(network, target, groups[l], block), images, parts);
            compared.alternatives.push_back({.block = block,
                                             .tiles = candidate.tiling.tiles,
                                             .cycles = mapping::predicted_cycles(candidate, machine)});
        }
        const auto fewest = std::ranges::min_element(compared.alternatives, {}, &BlockAlternative::cycles);
        compared.chosen = static_cast<std::size_t>(fewest - compared.alternatives.begin());
        if (compared.chosen > 0) bytes += bytes_of_tiles(*product, fewest->tiles, target);
        layers.push_back(std::move(compared));
    }
    if (bytes > target.weight_memory_bytes) {
        for (LayerAlternatives& layer : layers) layer.chosen = 0;
    }
    return layers;
}

std::vector<mapping::PixelBlock> chosen_blocks(const std::vector<LayerAlternatives>& layers,
                                               std::size_t layer_count) {
    std::vector<mapping::PixelBlock> blocks(layer_count);
    for (const LayerAlternatives& layer : layers) {
        for (const std::uint32_t member : layer.layers) {
            blocks[member] = layer.alternatives[layer.chosen].block;
        }
    }
    return blocks;
}

}  // namespace systole::schedule

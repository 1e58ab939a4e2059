#include "compiler/schedule/choose_blocks.h"

#include <algorithm>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/array_weights.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/lowering.h"
#include "compiler/schedule/mapped_product.h"
#include "compiler/schedule/tensor_parts.h"
#include "hw/base/arithmetic.h"

namespace systole::schedule {
namespace {

/// The layer under a mapping with the block, for some images.
mapping::MappedProduct mapped(const LayerView& view, const mapping::PixelBlock& block, std::uint32_t images,
                              std::uint32_t pixel_bytes) {
    const auto& product = std::get<mapping::MatrixProduct>(view.layer.work);
    const ir::FeatureMap& input = view.input().shape;
    const ir::Window window = mapping::window_of_blocks(*product.window, block);
    LayerPlan plan;
    plan.block = block;
    plan.grid = mapping::blocks_of(view.output().shape, block);
    plan.tiling = product.channel_multiplier && block.pixels() == 1
                      ? mapping::depthwise_tiling(window, input.channels, *product.channel_multiplier,
                                                  view.target.geometry)
                      : mapping::dense_tiling(window.kernel_elements() * input.channels, plan.grid.channels,
                                              view.target.geometry);
    return mapped_product(view, plan, images, pixel_bytes);
}

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

std::vector<std::vector<mapping::PixelBlock>> possible_blocks(const mapping::Network& network,
                                                              const Target& target) {
    std::vector<std::vector<mapping::PixelBlock>> possible;
    for (const mapping::Layer& layer : network.layers) {
        std::vector<mapping::PixelBlock>& blocks = possible.emplace_back(1);
        const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
        if (product == nullptr || !product->window) continue;
        const ir::FeatureMap& output = network.tensors[layer.output].shape;
        blocks.clear();
        for (const std::uint32_t height : block_sizes(output.height)) {
            for (const std::uint32_t width : block_sizes(output.width)) {
                const std::uint64_t columns = std::uint64_t{width} * height * output.channels;
                const bool is_single = width == 1 && height == 1;
                if (is_single || columns <= target.geometry.columns) {
                    blocks.push_back({.width = width, .height = height});
                }
            }
        }
    }
    return possible;
}

std::vector<LayerAlternatives> compare_blocks(const mapping::Network& network, const Target& target,
                                              const machine::MachineConfig& machine, const Options& options) {
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::vector<std::vector<mapping::PixelBlock>> possible = possible_blocks(network, target);
    const std::vector<TensorPart> parts = place_parts(network, target.geometry.rows);
    const std::vector<LayerPlan> plans = plan_layers(network, target);
    std::uint64_t bytes =
        0;  // of the tiles of single pixels and of the chosen blocks: at most a few too many
    std::vector<LayerAlternatives> layers;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const mapping::Layer& layer = network.layers[l];
        const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
        if (product == nullptr) continue;
        bytes += bytes_of_tiles(*product, plans[l].tiling.tiles, target);
        if (possible[l].size() == 1) continue;
        const DataType activations = network.tensors[layer.inputs[0]].type;
        // The program of such a layer is refused with its instruction.
        if (!machine.matrix_unit.passes(activations, array_weights(*product, target).type)) continue;
        LayerAlternatives compared{.layer = l, .alternatives = {}, .chosen = 0};
        const std::uint32_t pixel_bytes = pixel_bytes_of(network.tensors[parts[layer.output].whole]);
        for (const mapping::PixelBlock& block : possible[l]) {
            const mapping::MappedProduct candidate =
                mapped({network, layer, target}, block, images, pixel_bytes);
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
        blocks[layer.layer] = layer.alternatives[layer.chosen].block;
    }
    return blocks;
}

}  // namespace systole::schedule

#include "compiler/schedule/choose_blocks.h"

#include <algorithm>
#include <optional>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/array_weights.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/tensor_parts.h"

namespace systole::schedule {
namespace {

/// The layer under a mapping with the block, for some images.
mapping::MappedProduct mapped(const mapping::Network& network, const mapping::Layer& layer,
                              const mapping::MatrixProduct& product, const mapping::PixelBlock& block,
                              const Target& target, std::uint32_t images) {
    const mapping::Tensor& input = network.tensors[layer.inputs[0]];
    const mapping::Tensor& output = network.tensors[layer.output];
    const ir::Window window = mapping::window_of_blocks(*product.window, block);
    const ir::FeatureMap grid = mapping::blocks_of(output.shape, block);
    mapping::Tiling tiling = product.channel_multiplier && block.pixels() == 1
                                 ? mapping::depthwise_tiling(window, input.shape.channels,
                                                             *product.channel_multiplier, target.geometry)
                                 : mapping::dense_tiling(window.kernel_elements() * input.shape.channels,
                                                         grid.channels, target.geometry);
    const auto delay = target.mapping.parts_by_delay ? std::optional(target.activation_delay) : std::nullopt;
    const mapping::AccumulatorParts accumulators(target.accumulator_rows);
    mapping::ProductChunks cut = mapping::cut_product(tiling, grid, images, accumulators, delay);
    return {.window = window,
            .input = input.shape,
            .grid = grid,
            .tiling = std::move(tiling),
            .cut = std::move(cut),
            .activations = input.type,
            .weights = array_weights(product, target).type,
            .output = output.type,
            .function = lookup_table(layer) != nullptr ? isa::ActivationFunction::Lookup
                                                       : isa::ActivationFunction::Identity};
}

/// Bytes of weight memory that the tiles of a layer take.
std::uint64_t bytes_of_tiles(const mapping::MatrixProduct& product, std::uint64_t tiles,
                             const Target& target) {
    return tiles * target.geometry.rows * target.geometry.columns *
           bytes_of(array_weights(product, target).type);
}

}  // namespace

std::vector<std::vector<mapping::PixelBlock>> possible_blocks(const mapping::Network& network,
                                                              const Target& target) {
    const std::vector<TensorPart> parts = place_parts(network);
    std::vector<std::vector<mapping::PixelBlock>> possible;
    for (const mapping::Layer& layer : network.layers) {
        std::vector<mapping::PixelBlock>& blocks = possible.emplace_back(1);
        const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
        if (product == nullptr || !product->window || parts[layer.output].whole != layer.output) continue;
        const ir::FeatureMap& output = network.tensors[layer.output].shape;
        for (std::uint32_t width = 2; width <= output.width; ++width) {
            if (std::uint64_t{width} * output.channels > target.geometry.columns) break;
            if (output.width % width == 0) blocks.push_back({.width = width, .height = 1});
        }
    }
    return possible;
}

std::vector<LayerAlternatives> compare_blocks(const mapping::Network& network, const Target& target,
                                              const machine::MachineConfig& machine, const Options& options) {
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::vector<std::vector<mapping::PixelBlock>> possible = possible_blocks(network, target);
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
        for (const mapping::PixelBlock& block : possible[l]) {
            const mapping::MappedProduct candidate = mapped(network, layer, *product, block, target, images);
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

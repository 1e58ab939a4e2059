#include "compiler/target/tpu_v1/choose/choose_blocks.h"

#include <algorithm>
#include <set>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"

namespace systole::tpu_v1 {
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
std::vector<PixelBlock> blocks_that_fit(const ir::FeatureMap& output, std::uint64_t channels,
                                        std::uint32_t columns) {
    std::vector<PixelBlock> blocks{{}};
    for (const std::uint32_t height : block_sizes(output.height)) {
        if (height * channels > columns) break;
        for (const std::uint32_t width : block_sizes(output.width)) {
            const PixelBlock block{.width = width, .height = height};
            if (block.pixels() * channels > columns) break;
            if (block.pixels() > 1) blocks.push_back(block);
        }
    }
    return blocks;
}

/// The share of a pixel's rows of array input that a cut of the channels must save to be compared.
constexpr double least_gain_of_cut = 0.02;

/// The numbers of channels at which a convolution may be cut. One with more channels than columns is cut
/// behind its full tiles. Of others, one of the parts has as many channels as fit the columns for some number
/// of pixels. Groups of channels are not cut.
std::set<std::uint32_t> places_to_cut(const ir::FeatureMap& output, std::uint32_t groups,
                                      std::uint32_t columns) {
    const std::uint32_t group = groups == 1 ? 1 : output.channels / groups;
    if (output.channels > columns) {
        const std::uint32_t first = output.channels / columns * columns;
        if (first == output.channels || first % group != 0) return {};
        return {first};
    }
    const std::uint32_t most_pixels = std::min(columns, output.height * output.width);
    const auto rows = [&](std::uint32_t channels) { return 1.0 / std::min(columns / channels, most_pixels); };
    const double most_rows = (1.0 - least_gain_of_cut) * rows(output.channels);
    std::set<std::uint32_t> places;
    for (std::uint32_t pixels = columns / output.channels + 1; pixels <= most_pixels; ++pixels) {
        const std::uint32_t filled = columns / pixels / group * group;
        if (filled == 0) break;
        if (rows(filled) + rows(output.channels - filled) > most_rows) continue;
        places.insert({filled, output.channels - filled});
    }
    return places;
}

/// Predicts the cycles of layers computed together.
class Predictor {
public:
    Predictor(const PredictionContext& context, std::span<const std::uint32_t> members)
        : context_(context), members_(members) {}

    BlockAlternative whole(const PixelBlock& block) const { return of(block, {}); }

    /// The fastest blocks of the rest behind full column tiles; otherwise the fastest of each part by itself.
    BlockAlternative fastest(const ChannelCut& cut) const {
        const std::uint32_t first = cut.first_channel;
        if (cut.first_blocks.size() == 1) {
            const PixelBlock& block = cut.first_blocks.front();
            const PixelBlock rest = fastest_of(cut.rest_blocks, [&](const auto& tried) {
                return of(block, {.first_channel = first, .block = tried}).cycles;
            });
            return of(block, {.first_channel = first, .block = rest});
        }
        const PixelBlock block = fastest_of(cut.first_blocks, [&](const auto& tried) {
            return part_cycles(tried, {.first_channel = first, .block = cut.rest_blocks.front()}, 0);
        });
        const PixelBlock rest = fastest_of(cut.rest_blocks, [&](const auto& tried) {
            return part_cycles(block, {.first_channel = first, .block = tried}, 1);
        });
        return of(block, {.first_channel = first, .block = rest});
    }

private:
    /// The block for which `cycles_of` gives the fewest cycles.
    template <typename CyclesOf>
    static PixelBlock fastest_of(const std::vector<PixelBlock>& blocks, const CyclesOf& cycles_of) {
        std::vector<Cycle> cycles;
        cycles.reserve(blocks.size());
        for (const PixelBlock& block : blocks) cycles.push_back(cycles_of(block));
        return blocks[static_cast<std::size_t>(std::ranges::min_element(cycles) - cycles.begin())];
    }
    std::vector<MappedProduct> products(const LayerPlan& plan) const {
        return context_.costs.products(members_.front(), plan, context_.images);
    }
    LayerPlan plan(const PixelBlock& block, const ChannelRest& rest) const {
        LayerPlan planned =
            plan_group(context_.costs.network(), context_.costs.target(), members_, block, rest);
        planned.spilled = context_.spilled;
        return planned;
    }
    Cycle part_cycles(const PixelBlock& block, const ChannelRest& rest, std::size_t part) const {
        return predicted_cycles(products(plan(block, rest))[part], context_.costs.machine());
    }
    BlockAlternative of(const PixelBlock& block, const ChannelRest& rest) const {
        const LayerPlan planned = plan(block, rest);
        return {.block = block,
                .rest = rest,
                .tiles = planned.tiling.tiles,
                .cycles = predicted_cycles(products(planned), context_.costs.machine())};
    }

    const PredictionContext& context_;
    const std::span<const std::uint32_t> members_;
};

}  // namespace

std::vector<PixelBlock> possible_blocks(const Network& network, const Target& target,
                                        std::span<const std::uint32_t> members) {
    const Layer& first = network.layers[members.front()];
    const auto* const product = std::get_if<MatrixProduct>(&first.work);
    if (product == nullptr || !product->window || writes_weights(*product)) return {{}};
    std::uint64_t channels = 0;
    for (const std::uint32_t member : members) {
        channels += network.tensors[network.layers[member].output].shape.channels;
    }
    return blocks_that_fit(network.tensors[first.output].shape, channels, target.geometry.columns);
}

std::vector<std::vector<PixelBlock>> possible_blocks(const AnalysedNetwork& analysed, const Target& target) {
    std::vector<std::vector<PixelBlock>> possible;
    for (const auto& members : analysed.members) {
        possible.push_back(members.empty() ? std::vector<PixelBlock>(1)
                                           : possible_blocks(analysed.network(), target, members));
    }
    return possible;
}

std::vector<ChannelCut> possible_cuts(const Network& network, const Target& target,
                                      std::span<const std::uint32_t> members) {
    const Layer& layer = network.layers[members.front()];
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    if (members.size() > 1 || product == nullptr || !product->window || writes_weights(*product)) return {};
    const ir::FeatureMap& output = network.tensors[layer.output].shape;
    const std::uint32_t columns = target.geometry.columns;
    std::vector<ChannelCut> cuts;
    for (const std::uint32_t first : places_to_cut(output, product->groups, columns)) {
        const bool fills_tiles = first >= columns;
        ChannelCut cut{.first_channel = first,
                       .first_blocks = fills_tiles ? std::vector<PixelBlock>{{}}
                                                   : blocks_that_fit(output, first, columns),
                       .rest_blocks = blocks_that_fit(output, output.channels - first, columns)};
        cuts.push_back(std::move(cut));
    }
    return cuts;
}

std::vector<BlockAlternative> block_alternatives(const PredictionContext& context,
                                                 std::span<const std::uint32_t> members) {
    const Predictor predictor(context, members);
    std::vector<BlockAlternative> alternatives;
    for (const PixelBlock& block :
         possible_blocks(context.costs.network(), context.costs.target(), members)) {
        alternatives.push_back(predictor.whole(block));
    }
    if (!context.costs.target().mapping.split_channels) return alternatives;
    for (const ChannelCut& cut : possible_cuts(context.costs.network(), context.costs.target(), members)) {
        alternatives.push_back(predictor.fastest(cut));
    }
    return alternatives;
}

std::size_t fastest_alternative(const std::vector<BlockAlternative>& alternatives) {
    const auto fewest = std::ranges::min_element(alternatives, {}, &BlockAlternative::cycles);
    return static_cast<std::size_t>(fewest - alternatives.begin());
}

std::vector<LayerAlternatives> compare_blocks(const AnalysedNetwork& analysed, const Target& target,
                                              const machine::MachineConfig& machine,
                                              const mapping::Batches& batches) {
    const Network& network = analysed.network();
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, batches.inferences));
    const std::vector<LayerPlan> plans = plan_layers(analysed, target);
    const LayerCosts costs(analysed, target, machine);
    const bool spills = std::ranges::any_of(plans, &LayerPlan::spilled);
    // Of the tiles of single pixels and of the chosen blocks: at most a few too many.
    std::uint64_t bytes = 0;
    std::vector<LayerAlternatives> layers;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const auto* const product = std::get_if<MatrixProduct>(&network.layers[l].work);
        if (product == nullptr || analysed.members[l].empty()) continue;
        bytes += costs.tile_bytes(l, plans[l].tiling.tiles);
        // The program of a layer that the machine cannot compute is refused with its instruction.
        if (!costs.supports(l) || !product->window) continue;
        LayerAlternatives compared{
            .layers = analysed.members[l],
            .alternatives = block_alternatives({costs, images, plans[l].spilled}, analysed.members[l]),
            .chosen = 0};
        if (compared.alternatives.size() == 1) continue;
        compared.chosen = fastest_alternative(compared.alternatives);
        if (compared.chosen > 0) {
            bytes += costs.tile_bytes(l, compared.alternatives[compared.chosen].tiles);
        }
        layers.push_back(std::move(compared));
    }
    if (bytes > target.weight_memory_bytes && !spills) {
        for (LayerAlternatives& layer : layers) layer.chosen = 0;
    }
    return layers;
}

void set_chosen_blocks(const std::vector<LayerAlternatives>& layers, std::size_t layer_count,
                       Choices& choices) {
    choices.blocks.assign(layer_count, {});
    choices.rests.assign(layer_count, {});
    for (const LayerAlternatives& layer : layers) {
        const BlockAlternative& chosen = layer.alternatives[layer.chosen];
        for (const std::uint32_t member : layer.layers) choices.blocks[member] = chosen.block;
        choices.rests[layer.layers.front()] = chosen.rest;
    }
}

}  // namespace systole::tpu_v1

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cycle.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/machine/machine_config.h"

namespace systole::tpu_v1 {

/// A block of output pixels that a layer could have, or two, of which the last channels have the second.
struct BlockAlternative {
    PixelBlock block;
    ChannelRest rest = {};
    std::uint64_t tiles = 0;  ///< weight tiles
    Cycle cycles = 0;         ///< predicted, of one batch

    bool operator==(const BlockAlternative&) const = default;
};

/// The blocks that a convolution, with those joined to it, could have, the single pixel first.
struct LayerAlternatives {
    std::vector<std::uint32_t> layers;  ///< that are computed together
    std::vector<BlockAlternative> alternatives;
    std::size_t chosen = 0;

    bool operator==(const LayerAlternatives&) const = default;
};

/// The blocks of output pixels that layers computed together could have: the single pixel first, and no other
/// for layers without windows.
///
/// The channels of a block fit the columns of the array. Of blocks that cut the image into as many lines and
/// columns, only the smallest is there. Blocks at the right and at the bottom may reach out of the image.
std::vector<PixelBlock> possible_blocks(const Network& network, const Target& target,
                                        std::span<const std::uint32_t> members);
/// By layer, the same for the layer and those joined to it; the single pixel for joined layers.
std::vector<std::vector<PixelBlock>> possible_blocks(const AnalysedNetwork& analysed, const Target& target);

/// A way to cut a convolution's channels in two parts: the first channel of the second part, and the blocks
/// that each part could have.
struct ChannelCut {
    std::uint32_t first_channel = 0;
    std::vector<PixelBlock> first_blocks;
    std::vector<PixelBlock> rest_blocks;
};

/// The ways to cut a convolution's channels. Either the first part fills whole column tiles, with single
/// pixels, and the rest is what is left over; or one of the parts has as many channels as fit the columns for
/// some number of pixels. None for layers computed together and for groups of channels that a part would cut.
std::vector<ChannelCut> possible_cuts(const Network& network, const Target& target,
                                      std::span<const std::uint32_t> members);

/// All that predictions depend on besides the layers.
struct PredictionContext {
    const LayerCosts& costs;
    std::uint32_t images = 0;  ///< that go through the layers together
    bool spilled = false;      ///< the weights of the layers come over the host link
};

/// The blocks that layers computed together could have, with their predicted cycles, and for each way to cut
/// their channels the blocks that are fastest for each part by itself. The machine must have the number
/// formats.
std::vector<BlockAlternative> block_alternatives(const PredictionContext& context,
                                                 std::span<const std::uint32_t> members);

/// The number of the alternative with the fewest cycles, of equals the first.
std::size_t fastest_alternative(const std::vector<BlockAlternative>& alternatives);

/// For each convolution of the network that could have several blocks, these with their predicted cycles;
/// chosen is the fastest alternative. If the tiles of all chosen blocks do not fit
/// the weight memory, every layer keeps single pixels, unless the weights are spilled even then. The target
/// has no blocks; layers are joined as it says (group_parallel_layers), and the blocks belong to these
/// groups. Throws ModelError if the target does not support the network.
std::vector<LayerAlternatives> compare_blocks(const AnalysedNetwork& analysed, const Target& target,
                                              const machine::MachineConfig& machine,
                                              const mapping::Batches& batches);

/// Sets Choices::blocks and Choices::rests to the chosen ones.
void set_chosen_blocks(const std::vector<LayerAlternatives>& layers, std::size_t layer_count,
                       Choices& choices);

}  // namespace systole::tpu_v1

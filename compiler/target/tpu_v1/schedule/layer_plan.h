#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/feature_map.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "compiler/target/tpu_v1/network/tiling.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// Consecutive column tiles of a layer whose rows of sums have the same blocks of pixels.
struct PlanPart {
    PixelBlock block;
    ir::FeatureMap grid;         ///< the output's blocks
    std::uint64_t elements = 0;  ///< of a streamed window; 0 without one
    std::uint32_t columns = 0;   ///< the channels of all layers that it computes, for each pixel of a block
    std::size_t first_tile = 0;  ///< the first column tile
    std::size_t column_tiles = 0;

    bool operator==(const PlanPart&) const = default;
};

/// The columns of a column tile that are channels of one layer, for each pixel of its block; an activation
/// processes one segment.
struct Segment {
    std::uint32_t layer = 0;
    std::uint32_t first_column = 0;    ///< in the column tile
    std::uint32_t first_channel = 0;   ///< in the layer's output
    std::uint32_t channels = 0;        ///< of a pixel
    std::uint32_t parameters_row = 0;  ///< unified-buffer row of the requantization parameters
    PixelBlock block = {};

    bool operator==(const Segment&) const = default;
};

/// The decisions for a layer that do not depend on the order of operations. If other layers are joined to a
/// layer (parallel_layers.h), it also computes them: its tiling has their columns after its own, in the
/// order of the layers.
struct LayerPlan {
    std::string name;
    std::string kind;                        ///< "convolution", "max_pool", ...; "joined to " a layer
    std::optional<std::uint32_t> joined_to;  ///< the layer with which it is computed
    /// Layer::part_of, or Layer::repeats if it has the plan of that layer.
    std::optional<std::uint32_t> part_of;
    /// For one inference; those of a joined layer count for the other layer, those of strips and of layers
    /// that repeat another for the first.
    std::uint64_t macs = 0;
    Tiling tiling;                        ///< without tiles for joined layers and for layers without weights
    std::vector<PlanPart> parts;          ///< of the column tiles; one, but for convolutions with a rest
    std::uint32_t first_weight_tile = 0;  ///< in the weight image
    bool spilled = false;                 ///< its last tiles do not fit the weight memory
    std::vector<std::vector<Segment>> segments;  ///< of each column tile, in the order of columns
    std::optional<std::uint32_t> table_row;      ///< unified-buffer row of the lookup table, if any

    bool operator==(const LayerPlan&) const = default;
};

/// The part to which a column tile of the plan belongs.
const PlanPart& part_of_column(const LayerPlan& plan, std::size_t column);

/// Whether reports list the layer by its own name: others are parts of such a layer.
inline bool is_reported(const LayerPlan& plan, std::size_t number) {
    return plan.part_of.value_or(number) == number;
}

/// The table of a lookup, or of the lookup after a requantization; null if the layer has none.
const Table* lookup_table(const Layer& layer);

/// The bytes of the table in the unified buffer; 16-bit entries are little endian.
std::vector<std::uint8_t> table_bytes(const Table& table);

/// The layer's requantization; null if it has none.
const Requantization* requantization(const Layer& layer);

/// Plans the first of these layers with the others joined to it, except for its place in the weight image and
/// the rows of its constants. Only a layer by itself may have a rest. The number of all their columns must
/// fit 32 bits. Throws as plan_layers does.
LayerPlan plan_group(const Network& network, const Target& target, std::span<const std::uint32_t> members,
                     const PixelBlock& block, const ChannelRest& rest = {});

/// Plans each layer of the network, except for the rows of its constants. Throws ModelError if the target
/// does not support a layer or the weights are too large, std::logic_error if the network is inconsistent.
std::vector<LayerPlan> plan_layers(const AnalysedNetwork& analysed, const Target& target);

/// Assigns the unified-buffer rows of all layers' parameters and tables, from row 0 on; each set begins at a
/// row. Returns the total number of rows. Throws ModelError if they do not fit in the unified buffer.
std::uint32_t lay_out_constants(const Network& network, const Target& target, std::vector<LayerPlan>& plans);

}  // namespace systole::tpu_v1

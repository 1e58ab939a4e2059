#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/feature_map.h"
#include "compiler/mapping/network.h"
#include "compiler/mapping/pixel_block.h"
#include "compiler/mapping/tiling.h"
#include "compiler/schedule/target.h"

namespace systole::schedule {

/// The columns of a column tile that are channels of one layer, for each pixel of its block; an activation
/// processes one segment.
struct Segment {
    std::uint32_t layer = 0;
    std::uint32_t first_column = 0;    ///< in the column tile
    std::uint32_t first_channel = 0;   ///< in the layer's output
    std::uint32_t channels = 0;        ///< of a pixel
    std::uint32_t parameters_row = 0;  ///< unified-buffer row of the requantization parameters

    bool operator==(const Segment&) const = default;
};

/// The decisions for a layer that do not depend on the order of operations. If other layers are joined to a
/// layer (parallel_convolutions.h), it also computes them: its tiling has their columns after its own, in the
/// order of the layers.
struct LayerPlan {
    std::string name;
    std::string kind;                        ///< "convolution", "max_pool", ...; "joined to " a layer
    std::optional<std::uint32_t> joined_to;  ///< the layer with which it is computed
    std::optional<std::uint32_t> part_of;    ///< see mapping::Layer
    /// For one inference; those of a joined layer count for the other layer, those of strips for the first.
    std::uint64_t macs = 0;
    mapping::Tiling tiling;               ///< without tiles for joined layers and for layers without weights
    mapping::PixelBlock block;            ///< output pixels of a row of sums; one but for convolutions
    ir::FeatureMap grid;                  ///< the output's blocks
    std::uint32_t first_weight_tile = 0;  ///< in the weight image
    std::vector<std::vector<Segment>> segments;  ///< of each column tile, in the order of columns
    std::optional<std::uint32_t> table_row;      ///< unified-buffer row of the lookup table, if any

    bool operator==(const LayerPlan&) const = default;
};

/// Whether reports list the layer by its own name: others are parts of such a layer.
inline bool is_reported(const LayerPlan& plan, std::size_t number) {
    return plan.part_of.value_or(number) == number;
}

/// The table of a lookup, or of the lookup after a requantization; null if the layer has none.
const mapping::Table* lookup_table(const mapping::Layer& layer);

/// The bytes of the table in the unified buffer; 16-bit entries are little endian.
std::vector<std::uint8_t> table_bytes(const mapping::Table& table);

/// The layer's requantization; null if it has none.
const mapping::Requantization* requantization(const mapping::Layer& layer);

/// Plans each layer of the network, except for the rows of its constants. Throws ModelError if the target
/// does not support a layer or the weights are too large, std::logic_error if the network is inconsistent.
std::vector<LayerPlan> plan_layers(const mapping::Network& network, const Target& target);

/// Assigns the unified-buffer rows of all layers' parameters and tables, from row 0 on; each set begins at a
/// row. Returns the total number of rows. Throws ModelError if they do not fit in the unified buffer.
std::uint32_t lay_out_constants(const mapping::Network& network, const Target& target,
                                std::vector<LayerPlan>& plans);

}  // namespace systole::schedule

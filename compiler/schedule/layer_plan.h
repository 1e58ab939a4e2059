#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/target.h"
#include "compiler/schedule/tiling.h"

namespace systole::schedule {

/// The columns of a column tile that are channels of one layer: what an activation works on.
struct Segment {
    std::uint32_t layer = 0;
    std::uint32_t first_column = 0;   ///< of the column tile
    std::uint32_t first_channel = 0;  ///< of the layer's output
    std::uint32_t channels = 0;
    std::uint32_t parameters_row = 0;  ///< unified-buffer row of the requantization parameters

    bool operator==(const Segment&) const = default;
};

/// What is fixed for a layer before any of its work is put in an order. A layer that others are joined to
/// (parallel_convolutions.h) does their work: its tiling has their columns behind its own, in the order of
/// the layers.
struct LayerPlan {
    std::string name;
    std::string kind;                        ///< "convolution", "max_pool", ...; "joined to " a layer
    std::optional<std::uint32_t> joined_to;  ///< the layer in whose place it is computed
    std::uint64_t macs = 0;                  ///< of one inference; of joined layers, the other has them
    Tiling tiling;                        ///< of layers with weights, not of joined ones; else without tiles
    std::uint32_t first_weight_tile = 0;  ///< in the weight image
    std::vector<std::vector<Segment>> segments;  ///< of each column tile, in the order of columns
    std::optional<std::uint32_t> table_row;  ///< unified-buffer row of the lookup table, where there is one

    bool operator==(const LayerPlan&) const = default;
};

/// The layer's lookup table, as operation or behind a requantization; nothing where it has none.
const mapping::Table* lookup_table(const mapping::Layer& layer);

/// The table as the unified buffer holds it, 16-bit entries little endian.
std::vector<std::uint8_t> table_bytes(const mapping::Table& table);

/// The layer's requantization; nothing where it has none.
const mapping::Requantization* requantization(const mapping::Layer& layer);

/// Plans each layer of the network, everything but the rows of its constants. Throws ModelError for a
/// layer or for weights that the target cannot take, std::logic_error for a network that contradicts
/// itself.
std::vector<LayerPlan> plan_layers(const mapping::Network& network, const Target& target);

/// Gives each layer the unified-buffer rows of its parameters and its table, from row 0 on, each set
/// beginning at a row. Returns the rows all take together. Throws ModelError where they do not fit the
/// unified buffer.
std::uint32_t lay_out_constants(const mapping::Network& network, const Target& target,
                                std::vector<LayerPlan>& plans);

}  // namespace systole::schedule

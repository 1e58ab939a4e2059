#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/quantized_network.h"
#include "compiler/schedule/target.h"
#include "compiler/schedule/tiling.h"

namespace systole::schedule {

/// What is fixed for a layer before any of its work is put in an order.
struct LayerPlan {
    std::string name;
    std::string kind;                     ///< "convolution", "max_pool", ...
    std::uint64_t macs = 0;               ///< of one inference
    Tiling tiling;                        ///< of layers with weights; else without tiles
    std::uint32_t first_weight_tile = 0;  ///< in the weight image
    /// Unified-buffer rows of the requantization parameters, one entry for each column tile.
    std::vector<std::uint32_t> parameter_rows;
    std::optional<std::uint32_t> table_row;  ///< unified-buffer row of the lookup table, where there is one

    bool operator==(const LayerPlan&) const = default;
};

/// The layer's lookup table, as operation or behind a requantization; nothing where it has none.
const quantized::Table* lookup_table(const quantized::Layer& layer);

/// The table as the unified buffer holds it, 16-bit entries little endian.
std::vector<std::uint8_t> table_bytes(const quantized::Table& table);

/// The layer's requantization; nothing where it has none.
const quantized::Requantization* requantization(const quantized::Layer& layer);

/// Plans each layer of the network, everything but the rows of its constants. Throws ModelError for a
/// layer or for weights that the target cannot take, std::logic_error for a network that contradicts
/// itself.
std::vector<LayerPlan> plan_layers(const quantized::Network& network, const Target& target);

}  // namespace systole::schedule

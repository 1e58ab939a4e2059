#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/window.h"
#include "hw/isa/program.h"

namespace systole::schedule {

/// Weight tiles that follow each other along the elements of a window (or of one of a dense layer's inputs):
/// element tile t holds elements [t * array rows, ...).
struct TileRun {
    std::uint32_t input = 0;  ///< of the layer's inputs; elements are counted in each
    std::uint32_t first_element_tile = 0;
    std::uint32_t tiles = 0;
    std::uint32_t first_weight_tile = 0;  ///< index of the first among the tiles of the layer

    bool operator==(const TileRun&) const = default;
};

/// The weight tiles that make one group of output channels, at most as many as the array has columns.
struct ColumnTile {
    std::uint32_t first_channel = 0;
    std::uint32_t channels = 0;
    std::vector<TileRun> runs;

    bool operator==(const ColumnTile&) const = default;
};

/// How a layer's weight matrix, window elements x output channels, is cut into tiles. Tiles are numbered
/// column tile by column tile, in each from the first element to the last: the order of their use.
struct Tiling {
    std::uint64_t elements = 0;  ///< of all inputs
    std::uint32_t channels = 0;
    std::uint32_t tiles = 0;
    std::vector<ColumnTile> columns;
    /// Where each input's elements begin among all, and the end of the last.
    std::vector<std::uint64_t> input_bounds;

    bool operator==(const Tiling&) const = default;
};

/// Tiles of a matrix without structure: all of them.
Tiling dense_tiling(std::uint64_t elements, std::uint32_t channels, const isa::Geometry& geometry);

/// The same for several inputs of so many elements, each beginning tiles of its own.
Tiling dense_tiling(std::span<const std::uint64_t> inputs, std::uint32_t channels,
                    const isa::Geometry& geometry);

/// Tiles of a depthwise convolution, whose matrix connects input channel c only with the output channels
/// c * channel_multiplier ... : tiles without any such element are left out.
Tiling depthwise_tiling(const ir::Window& window, std::uint32_t input_channels,
                        std::uint32_t channel_multiplier, const isa::Geometry& geometry);

}  // namespace systole::schedule

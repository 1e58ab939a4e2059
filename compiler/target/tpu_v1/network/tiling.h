#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/window.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "hw/isa/program.h"

namespace systole::tpu_v1 {

/// Consecutive weight tiles along the elements of a window, or of one input of a dense layer: element tile t
/// holds the elements from t * array rows on.
struct TileRun {
    std::uint32_t input = 0;  ///< number of the layer's input; elements count from its first
    std::uint32_t first_element_tile = 0;
    std::uint32_t tiles = 0;
    std::uint32_t first_weight_tile = 0;  ///< index of the first among the tiles of the layer

    bool operator==(const TileRun&) const = default;
};

/// The weight tiles of a group of output channels; a group has at most as many channels as the array has
/// columns.
struct ColumnTile {
    std::uint32_t first_channel = 0;
    std::uint32_t channels = 0;
    std::vector<TileRun> runs;

    bool operator==(const ColumnTile&) const = default;
};

/// The tiles of a layer's weight matrix (window elements x output channels). They are numbered in the order
/// of use: column tile by column tile, in each from the first element to the last.
struct Tiling {
    std::uint64_t elements = 0;  ///< of all inputs
    std::uint32_t channels = 0;
    std::uint64_t tiles = 0;  ///< may be too many for a program, whose tiles have numbers of 32 bits
    std::vector<ColumnTile> columns;
    /// The index of each input's first element among all elements, and the end of the last input.
    std::vector<std::uint64_t> input_bounds;

    bool operator==(const Tiling&) const = default;
};

/// The tiling of a matrix without structural zeros: all tiles.
Tiling dense_tiling(std::uint64_t elements, std::uint32_t channels, const isa::Geometry& geometry);

/// The same for several inputs with these numbers of elements; each input begins a new tile.
Tiling dense_tiling(std::span<const std::uint64_t> inputs, std::uint32_t channels,
                    const isa::Geometry& geometry);

/// The weight matrix of a convolution: a row for each element of the window of blocks, a column for each
/// output channel of each pixel of a block.
struct ConvolutionMatrix {
    ir::Window window;  ///< of a pixel; it may be dilated
    PixelBlock block = {};
    std::uint32_t input_channels = 0;
    /// The matrix connects the input channels of a group only with the output channels of that group; a
    /// depthwise convolution has a group for each input channel. 1 for blocks of several pixels.
    std::uint32_t groups = 1;
    std::uint32_t columns = 0;
};

/// The tiling of a convolution. Tiles that contain only zeros are left out: those between the elements of a
/// dilated kernel, or between the windows of a block's pixels, and those of other groups.
Tiling convolution_tiling(const ConvolutionMatrix& matrix, const isa::Geometry& geometry);

/// Appends the column tiles of a tiling that computes further columns of the same rows of sums, or of others.
void append_columns(Tiling& tiling, const Tiling& further);

}  // namespace systole::tpu_v1

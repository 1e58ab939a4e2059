#include "compiler/target/tpu_v1/network/tiling.h"

#include <algorithm>
#include <utility>

#include "base/arithmetic.h"

namespace systole::tpu_v1 {
namespace {

/// Appends consecutive tiles to the column tile; extends the last run if they follow it directly.
void append_tiles(ColumnTile& column, const TileRun& tiles) {
    if (!column.runs.empty()) {
        TileRun& last = column.runs.back();
        if (last.first_element_tile + last.tiles == tiles.first_element_tile) {
            last.tiles += tiles.tiles;
            return;
        }
    }
    column.runs.push_back(tiles);
}

/// The column tiles of `channels` output channels, without their runs.
std::vector<ColumnTile> cut_columns(std::uint32_t channels, const isa::Geometry& geometry) {
    std::vector<ColumnTile> columns;
    for (std::uint32_t first = 0; first < channels; first += geometry.columns) {
        columns.push_back(
            {.first_channel = first, .channels = std::min(geometry.columns, channels - first), .runs = {}});
        if (channels - first <= geometry.columns) break;
    }
    return columns;
}

}  // namespace

Tiling dense_tiling(std::uint64_t elements, std::uint32_t channels, const isa::Geometry& geometry) {
    return dense_tiling(std::span(&elements, 1), channels, geometry);
}

Tiling dense_tiling(std::span<const std::uint64_t> inputs, std::uint32_t channels,
                    const isa::Geometry& geometry) {
    Tiling tiling{.elements = 0, .channels = channels, .tiles = 0, .columns = {}, .input_bounds = {0}};
    for (const std::uint64_t elements : inputs) tiling.input_bounds.push_back(tiling.elements += elements);
    tiling.columns = cut_columns(channels, geometry);
    for (ColumnTile& column : tiling.columns) {
        for (std::uint32_t input = 0; input < inputs.size(); ++input) {
            const auto tiles =
                static_cast<std::uint32_t>(divide_up(inputs[input], std::uint64_t{geometry.rows}));
            column.runs.push_back({.input = input,
                                   .first_element_tile = 0,
                                   .tiles = tiles,
                                   .first_weight_tile = static_cast<std::uint32_t>(tiling.tiles)});
            tiling.tiles += tiles;
        }
    }
    return tiling;
}

Tiling convolution_tiling(const ConvolutionMatrix& matrix, const isa::Geometry& geometry) {
    const ir::Window streamed = window_of_blocks(matrix.window, matrix.block);
    const UsedElements used = used_elements(matrix.window, matrix.block);
    const std::uint32_t group_inputs = matrix.input_channels / matrix.groups;
    const std::uint32_t group_outputs = matrix.columns / matrix.groups;
    const std::uint64_t elements = streamed.kernel_elements() * matrix.input_channels;
    Tiling tiling{.elements = elements,
                  .channels = matrix.columns,
                  .tiles = 0,
                  .columns = cut_columns(matrix.columns, geometry),
                  .input_bounds = {0, elements}};
    for (ColumnTile& column : tiling.columns) {
        // At each kernel element, the outputs depend on a range of input channels; its tiles are needed.
        const std::uint32_t last_channel = column.first_channel + column.channels - 1;
        const std::uint32_t first_input = column.first_channel / group_outputs * group_inputs;
        const std::uint32_t last_input = (last_channel / group_outputs + 1) * group_inputs - 1;
        std::uint64_t next_tile = 0;
        for (const std::uint64_t kernel_row : used.rows) {
            for (const std::uint64_t kernel_column : used.columns) {
                const std::uint64_t base =
                    (kernel_row * streamed.kernel_width + kernel_column) * matrix.input_channels;
                const std::uint64_t first_tile = std::max(next_tile, (base + first_input) / geometry.rows);
                const std::uint64_t end_tile = (base + last_input) / geometry.rows + 1;
                if (first_tile == end_tile) continue;  // they lie in the last tile of the element before
                append_tiles(column, {.input = 0,
                                      .first_element_tile = static_cast<std::uint32_t>(first_tile),
                                      .tiles = static_cast<std::uint32_t>(end_tile - first_tile),
                                      .first_weight_tile = static_cast<std::uint32_t>(tiling.tiles)});
                tiling.tiles += end_tile - first_tile;
                next_tile = end_tile;
            }
        }
    }
    return tiling;
}

void append_columns(Tiling& tiling, const Tiling& further) {
    for (ColumnTile column : further.columns) {
        column.first_channel += tiling.channels;
        for (TileRun& run : column.runs) run.first_weight_tile += static_cast<std::uint32_t>(tiling.tiles);
        tiling.columns.push_back(std::move(column));
    }
    tiling.channels += further.channels;
    tiling.tiles += further.tiles;
}

}  // namespace systole::tpu_v1

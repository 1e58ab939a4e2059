#include "compiler/emit/weight_image.h"

#include <algorithm>

namespace systole::emit {
namespace {

/// Elements [first_element, ...) x channels [first_channel, ...) of a layer's weight matrix.
struct TileCut {
    std::uint64_t first_element = 0;
    std::uint32_t first_channel = 0;
};

/// Copies a part of a matrix stored element by element with all channels. (Where there are no weights,
/// only the useful multiply-accumulates are counted.)
void fill_dense(const std::vector<std::int8_t>& weights, std::uint64_t channels, const TileCut& cut,
                isa::WeightTile& tile) {
    tile.useful_macs = tile.rows * tile.columns;
    if (weights.empty()) return;
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t from = (cut.first_element + row) * channels + cut.first_channel;
        for (std::uint32_t column = 0; column < tile.columns; ++column) {
            tile.values[std::size_t{row} * tile.columns + column] =
                static_cast<std::uint8_t>(weights[from + column]);
        }
    }
}

/// Copies what a depthwise convolution has within the tile: of each element, the output channels that
/// belong to its input channel.
void fill_depthwise(const quantized::DepthwiseConvolution& convolution, std::uint64_t input_channels,
                    const TileCut& cut, isa::WeightTile& tile) {
    const std::uint64_t multiplier = convolution.channel_multiplier;
    const std::uint64_t end_channel = std::uint64_t{cut.first_channel} + tile.columns;
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t element = cut.first_element + row;
        const std::uint64_t own = element % input_channels * multiplier;
        const std::uint64_t first = std::max<std::uint64_t>(own, cut.first_channel);
        const std::uint64_t last = std::min(own + multiplier, end_channel);
        if (first < last) tile.useful_macs += static_cast<std::uint32_t>(last - first);
        if (convolution.weights.empty()) continue;
        for (std::uint64_t channel = first; channel < last; ++channel) {
            tile.values[std::size_t{row} * tile.columns + (channel - cut.first_channel)] =
                static_cast<std::uint8_t>(convolution.weights[element * multiplier + (channel - own)]);
        }
    }
}

/// Fills a tile, whose size is set and whose values are 0, with its part of a layer's weights.
struct FillTile {
    const schedule::Tiling& tiling;
    std::uint64_t input_channels;
    const TileCut& cut;
    isa::WeightTile& tile;

    void operator()(const quantized::Convolution& convolution) const {
        fill_dense(convolution.weights, tiling.channels, cut, tile);
    }
    void operator()(const quantized::DepthwiseConvolution& convolution) const {
        fill_depthwise(convolution, input_channels, cut, tile);
    }
    void operator()(const quantized::Dense& dense) const {
        fill_dense(dense.weights, tiling.channels, cut, tile);
    }
    // Layers without weights have no tiles.
    void operator()(const quantized::Pool&) const {}
    void operator()(const quantized::Add&) const {}
    void operator()(const quantized::Multiply&) const {}
    void operator()(const quantized::Lookup&) const {}
    void operator()(const quantized::Concat&) const {}
    void operator()(const quantized::Slice&) const {}
};

}  // namespace

std::vector<isa::WeightTile> weight_image(const quantized::Network& network,
                                          const schedule::Schedule& schedule) {
    std::vector<isa::WeightTile> tiles;
    tiles.reserve(schedule.weight_tiles);
    const std::uint64_t array_rows = schedule.target.geometry.rows;
    for (std::size_t l = 0; l < schedule.layers.size(); ++l) {
        const schedule::Tiling& tiling = schedule.layers[l].tiling;
        const quantized::Layer& layer = network.layers[l];
        const std::uint64_t input_channels = network.tensors[layer.inputs[0]].shape.channels;
        for (const schedule::ColumnTile& column : tiling.columns) {
            for (const schedule::TileRun& run : column.runs) {
                for (std::uint64_t t = 0; t < run.tiles; ++t) {
                    const TileCut cut{.first_element = tiling.input_bounds[run.input] +
                                                       (run.first_element_tile + t) * array_rows,
                                      .first_channel = column.first_channel};
                    isa::WeightTile tile;
                    tile.rows = static_cast<std::uint32_t>(
                        std::min(array_rows, tiling.input_bounds[run.input + 1] - cut.first_element));
                    tile.columns = column.channels;
                    if (network.has_weights) tile.values.assign(std::size_t{tile.rows} * tile.columns, 0);
                    std::visit(FillTile{tiling, input_channels, cut, tile}, layer.operation);
                    tiles.push_back(std::move(tile));
                }
            }
        }
    }
    return tiles;
}

}  // namespace systole::emit

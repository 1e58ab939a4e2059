#include "compiler/emit/program_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/ir/model_error.h"
#include "hw/base/arithmetic.h"
#include "hw/isa/fields.h"

namespace systole::emit {
namespace {

/// The part of a layer's weight matrix that goes to a segment's columns of a tile: the segment's channels,
/// and elements from `first_element` on.
struct TileCut {
    std::uint64_t first_element = 0;
    const schedule::Segment& segment;
};

/// Copies a part of a matrix that is stored element by element with all channels. Without weights, only
/// counts the useful multiply-accumulates.
void fill_dense(std::span<const std::int8_t> weights, std::uint64_t channels, const TileCut& cut,
                isa::WeightTile& tile) {
    tile.useful_macs += tile.rows * cut.segment.channels;
    if (weights.empty()) return;
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t from = (cut.first_element + row) * channels + cut.segment.first_channel;
        const std::size_t to = std::size_t{row} * tile.columns + cut.segment.first_column;
        for (std::uint32_t channel = 0; channel < cut.segment.channels; ++channel) {
            tile.values[to + channel] = static_cast<std::uint8_t>(weights[from + channel]);
        }
    }
}

/// Copies a depthwise convolution's weights within the tile: for each element, the output channels of its
/// input channel.
void fill_depthwise(std::span<const std::int8_t> weights, std::uint64_t input_channels,
                    std::uint64_t multiplier, const TileCut& cut, isa::WeightTile& tile) {
    const std::uint64_t first_channel = cut.segment.first_channel;
    const std::uint64_t end_channel = first_channel + cut.segment.channels;
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t element = cut.first_element + row;
        const std::uint64_t own = element % input_channels * multiplier;
        const std::uint64_t first = std::max(own, first_channel);
        const std::uint64_t last = std::min(own + multiplier, end_channel);
        if (first < last) tile.useful_macs += static_cast<std::uint32_t>(last - first);
        if (weights.empty()) continue;
        for (std::uint64_t channel = first; channel < last; ++channel) {
            tile.values[std::size_t{row} * tile.columns + (channel - first_channel)] =
                static_cast<std::uint8_t>(weights[element * multiplier + (channel - own)]);
        }
    }
}

/// Fills a segment of a tile with its part of a layer's weights. The tile's size is set and its values are 0.
void fill(const mapping::Network& network, const TileCut& cut, isa::WeightTile& tile) {
    const mapping::Layer& layer = network.layers[cut.segment.layer];
    const auto& product = std::get<mapping::MatrixProduct>(layer.work);
    const auto weights = product.weights.values<std::int8_t>();
    if (product.channel_multiplier) {
        const std::uint64_t input_channels = network.tensors[layer.inputs[0]].shape.channels;
        fill_depthwise(weights, input_channels, *product.channel_multiplier, cut, tile);
    } else {
        fill_dense(weights, network.tensors[layer.output].shape.channels, cut, tile);
    }
}

/// Writes consecutive little-endian numbers.
class LittleEndianWriter {
public:
    explicit LittleEndianWriter(std::uint8_t* to) : to_(to) {}

    void write(std::int32_t value) {
        const auto bits = static_cast<std::uint32_t>(value);
        for (const int shift : {0, 8, 16, 24}) *to_++ = static_cast<std::uint8_t>(bits >> shift);
    }
    void write(std::int8_t value) { *to_++ = static_cast<std::uint8_t>(value); }

private:
    std::uint8_t* to_;
};

void write_parameters(const mapping::Requantization& rules, const schedule::Segment& segment,
                      std::uint8_t* to) {
    LittleEndianWriter writer(to);
    const std::size_t end = std::size_t{segment.first_channel} + segment.channels;
    for (std::size_t i = segment.first_channel; i < end; ++i) writer.write(rules.bias[i]);
    for (std::size_t i = segment.first_channel; i < end; ++i) writer.write(rules.multiplier[i]);
    for (std::size_t i = segment.first_channel; i < end; ++i) writer.write(rules.shift[i]);
}

/// Buffers are aligned to cache lines of the host.
constexpr std::uint64_t alignment = 64;

}  // namespace

std::vector<isa::WeightTile> weight_image(const mapping::Network& network,
                                          const schedule::Schedule& schedule) {
    std::vector<isa::WeightTile> tiles;
    tiles.reserve(schedule.weight_tiles);
    const std::uint64_t array_rows = schedule.target.geometry.rows;
    for (const schedule::LayerPlan& plan : schedule.layers) {
        const schedule::Tiling& tiling = plan.tiling;
        for (std::size_t j = 0; j < tiling.columns.size(); ++j) {
            const schedule::ColumnTile& column = tiling.columns[j];
            for (const schedule::TileRun& run : column.runs) {
                for (std::uint64_t t = 0; t < run.tiles; ++t) {
                    const std::uint64_t first_element =
                        tiling.input_bounds[run.input] + (run.first_element_tile + t) * array_rows;
                    isa::WeightTile tile;
                    tile.rows = static_cast<std::uint32_t>(
                        std::min(array_rows, tiling.input_bounds[run.input + 1] - first_element));
                    tile.columns = column.channels;
                    if (network.has_weights) tile.values.assign(std::size_t{tile.rows} * tile.columns, 0);
                    for (const schedule::Segment& segment : plan.segments[j]) {
                        fill(network, {first_element, segment}, tile);
                    }
                    tiles.push_back(std::move(tile));
                }
            }
        }
    }
    return tiles;
}

std::vector<std::uint8_t> constant_rows(const mapping::Network& network, const schedule::Schedule& schedule) {
    const std::size_t row_bytes = schedule.target.geometry.rows;
    std::vector<std::uint8_t> contents(schedule.constant_rows * row_bytes, 0);
    for (std::size_t l = 0; l < schedule.layers.size(); ++l) {
        const schedule::LayerPlan& plan = schedule.layers[l];
        for (const std::vector<schedule::Segment>& column_tile : plan.segments) {
            for (const schedule::Segment& segment : column_tile) {
                write_parameters(*schedule::requantization(network.layers[segment.layer]), segment,
                                 contents.data() + segment.parameters_row * row_bytes);
            }
        }
        if (const auto* table = schedule::lookup_table(network.layers[l])) {
            const std::vector<std::uint8_t> bytes = schedule::table_bytes(*table);
            std::copy(bytes.begin(), bytes.end(), contents.data() + *plan.table_row * row_bytes);
        }
    }
    return contents;
}

HostMemory lay_out_host_memory(const mapping::Network& network, const schedule::Schedule& schedule) {
    HostMemory memory;
    const std::uint64_t inferences = schedule.options.inferences;
    memory.constants_bytes = std::uint64_t{schedule.constant_rows} * schedule.target.geometry.rows;
    memory.input_bytes_per_image = mapping::image_bytes(network.tensors[network.input]);
    memory.output_bytes_per_image = mapping::image_bytes(network.tensors[network.output]);
    const std::uint64_t overhead = memory.constants_bytes + 2 * alignment;
    const std::uint64_t bytes_per_image = memory.input_bytes_per_image + memory.output_bytes_per_image;
    if (overhead > isa::host_memory_limit ||
        inferences > (isa::host_memory_limit - overhead) / bytes_per_image) {
        throw ModelError(fmt::format("{}: {} inferences take {} bytes each; the host has {} bytes",
                                     network.name, inferences, bytes_per_image, isa::host_memory_limit));
    }
    memory.input_address = round_up(memory.constants_bytes, alignment);
    memory.output_address =
        round_up(memory.input_address + inferences * memory.input_bytes_per_image, alignment);
    return memory;
}

std::vector<isa::HostBuffer> host_buffers(const HostMemory& memory, std::uint64_t inferences,
                                          std::vector<std::uint8_t> constants) {
    std::vector<isa::HostBuffer> buffers;
    if (memory.constants_bytes > 0) {
        buffers.push_back({.name = "constants",
                           .kind = isa::BufferKind::Constant,
                           .address = memory.constants_address,
                           .bytes = memory.constants_bytes,
                           .contents = std::move(constants)});
    }
    buffers.push_back({.name = "input",
                       .kind = isa::BufferKind::Input,
                       .address = memory.input_address,
                       .bytes = inferences * memory.input_bytes_per_image,
                       .contents = {}});
    buffers.push_back({.name = "output",
                       .kind = isa::BufferKind::Output,
                       .address = memory.output_address,
                       .bytes = inferences * memory.output_bytes_per_image,
                       .contents = {}});
    return buffers;
}

}  // namespace systole::emit

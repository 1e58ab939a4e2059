#include "compiler/target/tpu_v1/emit/program_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "hw/isa/fields.h"

namespace systole::tpu_v1 {
namespace {

/// The part of a layer's weight matrix that goes to a segment's columns of a tile: the segment's channels,
/// and elements from `first_element` on.
struct TileCut {
    std::uint64_t first_element = 0;
    const Segment& segment;
};

/// Writes weight number `index` of a tile; weights of 16 bits are little endian.
void set_weight(isa::WeightTile& tile, std::size_t index, std::int32_t weight) {
    if (bytes_of(tile.type) == 1) {
        tile.values[index] = static_cast<std::uint8_t>(weight);
        return;
    }
    tile.values[2 * index] = static_cast<std::uint8_t>(weight);
    tile.values[2 * index + 1] = static_cast<std::uint8_t>(weight >> 8);
}

/// The weights of a layer, as numbers that the tiles hold.
template <typename Weight>
struct HeldWeights {
    std::span<const Weight> stored;
    std::int32_t subtracted = 0;  ///< their zero point, if the array cannot subtract it

    bool empty() const { return stored.empty(); }
    std::int32_t operator[](std::size_t index) const { return stored[index] - subtracted; }
};

/// Copies a part of a matrix that is stored element by element with all channels. Without weights, only
/// counts the useful multiply-accumulates.
template <typename Weight>
void fill_dense(const HeldWeights<Weight>& weights, std::uint64_t channels, const TileCut& cut,
                isa::WeightTile& tile) {
    tile.useful_macs += tile.rows * cut.segment.channels;
    if (weights.empty()) return;
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t from = (cut.first_element + row) * channels + cut.segment.first_channel;
        const std::size_t to = std::size_t{row} * tile.columns + cut.segment.first_column;
        for (std::uint32_t channel = 0; channel < cut.segment.channels; ++channel) {
            set_weight(tile, to + channel, weights[from + channel]);
        }
    }
}

/// The groups of a convolution's channels.
struct ChannelGroups {
    std::uint64_t input_channels = 0;  ///< of all groups
    std::uint64_t channels = 0;        ///< the output channels of all groups
    std::uint64_t groups = 1;

    std::uint64_t inputs() const { return input_channels / groups; }
    std::uint64_t outputs() const { return channels / groups; }
    /// The first output channel of an input channel's group.
    std::uint64_t first_output(std::uint64_t input_channel) const {
        return input_channel / inputs() * outputs();
    }
    /// The row of the stored weights of an input channel at a kernel element.
    std::uint64_t stored_row(std::uint64_t kernel_element, std::uint64_t input_channel) const {
        return kernel_element * inputs() + input_channel % inputs();
    }
};

/// Copies the filters of each pixel of a block to its columns. An element of the window of blocks belongs to
/// the windows of some of the pixels; for the others, between the elements of a dilated kernel, and for input
/// channels of other groups, the tile keeps its zeros.
template <typename Weight>
void fill_convolution(const HeldWeights<Weight>& weights, const ir::Window& window,
                      const ChannelGroups& groups, const TileCut& cut, isa::WeightTile& tile) {
    const PixelBlock& block = cut.segment.block;
    const std::uint32_t width = window_of_blocks(window, block).kernel_width;
    const std::uint64_t first_channel = cut.segment.first_channel;
    const std::uint64_t end_channel = first_channel + cut.segment.channels;
    if (block.pixels() > 1) tile.block_macs.resize(block.pixels(), 0);
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t element = cut.first_element + row;
        const auto place = static_cast<std::uint32_t>(element / groups.input_channels);
        const std::uint64_t input_channel = element % groups.input_channels;
        const std::uint64_t own = groups.first_output(input_channel);
        const std::uint64_t first = std::max(own, first_channel);
        const std::uint64_t last = std::min(own + groups.outputs(), end_channel);
        if (first >= last) continue;
        for (std::uint32_t pixel = 0; pixel < block.pixels(); ++pixel) {
            const auto kernel_element = tpu_v1::kernel_element(
                window, pixel / block.width, pixel % block.width, place / width, place % width);
            if (!kernel_element) continue;
            tile.useful_macs += static_cast<std::uint32_t>(last - first);
            if (block.pixels() > 1) tile.block_macs[pixel] += static_cast<std::uint32_t>(last - first);
            if (weights.empty()) continue;
            const std::uint64_t from = groups.stored_row(*kernel_element, input_channel) * groups.channels;
            // One column tile has all channels of the segment, for each pixel.
            const std::size_t to = std::size_t{row} * tile.columns + cut.segment.first_column +
                                   std::size_t{pixel} * cut.segment.channels;
            for (std::uint64_t channel = first; channel < last; ++channel) {
                set_weight(tile, to + (channel - first_channel), weights[from + channel]);
            }
        }
    }
}

template <typename Weight>
void fill_with(const Network& network, const MatrixProduct& product, const TileCut& cut,
               const ArrayWeights& held, isa::WeightTile& tile) {
    const Layer& layer = network.layers[cut.segment.layer];
    const HeldWeights<Weight> weights{product.weights.values<Weight>(),
                                      product.weight_zero_point - held.zero_point};
    const ChannelGroups groups{.input_channels = network.tensors[layer.inputs[0]].shape.channels,
                               .channels = network.tensors[layer.output].shape.channels,
                               .groups = product.groups};
    const bool has_zeros = product.groups > 1 || cut.segment.block.pixels() > 1 ||
                           (product.window && product.window->is_dilated());
    if (has_zeros) {
        fill_convolution(weights, *product.window, groups, cut, tile);
    } else {
        fill_dense(weights, groups.channels, cut, tile);
    }
}

const MatrixProduct& product_of(const Network& network, const Segment& segment) {
    return std::get<MatrixProduct>(network.layers[segment.layer].work);
}

/// Fills a segment of a tile with its part of a layer's weights. The tile's size is set and its values are
/// the zero point that the array subtracts.
void fill(const Network& network, const TileCut& cut, const ArrayWeights& held, isa::WeightTile& tile) {
    const MatrixProduct& product = product_of(network, cut.segment);
    if (bytes_of(product.weight_type) == 2) {
        fill_with<std::int16_t>(network, product, cut, held, tile);
    } else {
        fill_with<std::int8_t>(network, product, cut, held, tile);
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
    void write(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        constexpr int bytes = sizeof(bits);
        for (int i = 0; i < bytes; ++i) *to_++ = static_cast<std::uint8_t>(bits >> (8 * i));
    }

private:
    std::uint8_t* to_;
};

/// Writes the parameters of a segment's columns: those of its channels, for each of `pixels` pixels.
void write_parameters(const Requantization& rules, const Segment& segment, std::uint32_t pixels,
                      std::uint8_t* to) {
    LittleEndianWriter writer(to);
    const auto write_all = [&](const auto& values) {
        for (std::uint32_t pixel = 0; pixel < pixels; ++pixel) {
            for (std::size_t i = 0; i < segment.channels; ++i) {
                writer.write(values[segment.first_channel + i]);
            }
        }
    };
    write_all(rules.bias);
    if (isa::are_real(rules.multipliers())) {
        write_all(rules.real_multiplier);
        return;
    }
    write_all(rules.multiplier);
    write_all(rules.shift);
}

/// Buffers are aligned to cache lines of the host.
constexpr std::uint64_t alignment = 64;

}  // namespace

std::vector<isa::WeightTile> weight_image(const Network& network, const Schedule& schedule) {
    std::vector<isa::WeightTile> tiles;
    tiles.reserve(schedule.weight_tiles);
    const std::uint64_t array_rows = schedule.target.geometry.rows;
    for (std::size_t l = 0; l < schedule.layers.size(); ++l) {
        const LayerPlan& plan = schedule.layers[l];
        if (!is_reported(plan, l)) continue;
        const Tiling& tiling = plan.tiling;
        for (std::size_t j = 0; j < tiling.columns.size(); ++j) {
            const ColumnTile& column = tiling.columns[j];
            const std::uint64_t window_elements = part_of_column(plan, j).elements;
            for (const TileRun& run : column.runs) {
                for (std::uint64_t t = 0; t < run.tiles; ++t) {
                    const std::uint64_t first_element =
                        tiling.input_bounds[run.input] + (run.first_element_tile + t) * array_rows;
                    isa::WeightTile tile;
                    const std::uint64_t end =
                        window_elements > 0 ? window_elements : tiling.input_bounds[run.input + 1];
                    tile.rows = static_cast<std::uint32_t>(std::min(array_rows, end - first_element));
                    tile.columns = column.channels;
                    const ArrayWeights held =
                        array_weights(product_of(network, plan.segments[j].front()), schedule.target);
                    tile.type = held.type;
                    // The zero point of int16 weights is 0, so all their bytes are.
                    const std::size_t weights = std::size_t{tile.rows} * tile.columns;
                    if (network.has_weights) {
                        tile.values.assign(weights * bytes_of(tile.type),
                                           static_cast<std::uint8_t>(held.zero_point));
                    }
                    for (const Segment& segment : plan.segments[j]) {
                        fill(network, {first_element, segment}, held, tile);
                    }
                    if (writes_weights(product_of(network, plan.segments[j].front()))) {
                        // Streams that subtract a zero point have blocks of which the second pixel, to which
                        // all of them belong, lies outside.
                        tile.block_macs = {0, tile.useful_macs};
                    }
                    tiles.push_back(std::move(tile));
                }
            }
        }
    }
    return tiles;
}

std::vector<std::uint8_t> constant_rows(const Network& network, const Schedule& schedule) {
    const std::size_t row_bytes = schedule.target.geometry.rows;
    std::vector<std::uint8_t> contents(schedule.constant_rows * row_bytes, 0);
    for (std::size_t l = 0; l < schedule.layers.size(); ++l) {
        const LayerPlan& plan = schedule.layers[l];
        if (!is_reported(plan, l)) continue;
        for (const std::vector<Segment>& column_tile : plan.segments) {
            for (const Segment& segment : column_tile) {
                write_parameters(*requantization(network.layers[segment.layer]), segment,
                                 segment.block.pixels(),
                                 contents.data() + segment.parameters_row * row_bytes);
            }
        }
        if (const auto* table = lookup_table(network.layers[l])) {
            const std::vector<std::uint8_t> bytes = table_bytes(*table);
            std::copy(bytes.begin(), bytes.end(), contents.data() + *plan.table_row * row_bytes);
        }
    }
    return contents;
}

namespace {

/// Chooses names that no other buffer has.
class BufferNames {
public:
    std::string choose(const std::string& wanted) {
        if (taken_.insert(wanted).second) return wanted;
        std::uint32_t& number = numbers_.try_emplace(wanted, 1).first->second;
        std::string name;
        do name = fmt::format("{}.{}", wanted, ++number);
        while (!taken_.insert(name).second);
        return name;
    }

private:
    std::set<std::string> taken_{"constants"};
    std::map<std::string, std::uint32_t> numbers_;  ///< by wanted name: the last that was tried
};

}  // namespace

void HostMemory::add(HostTensor tensor) {
    const std::size_t place = tensors.size();
    if (tensor.kind == isa::BufferKind::Input) input_places.emplace(tensor.tensor, place);
    if (tensor.kind == isa::BufferKind::Output) output_places.emplace(tensor.tensor, place);
    // A tensor that is both input and output has two places, with the same contents.
    places.emplace(tensor.tensor, place);
    tensors.push_back(std::move(tensor));
}

std::size_t HostMemory::place_of(TensorId id) const {
    const auto found = places.find(id);
    if (found == places.end()) throw std::logic_error("a tensor that is not in host memory");
    return found->second;
}

HostMemory lay_out_host_memory(const Network& network, const Schedule& schedule) {
    HostMemory memory;
    const std::uint64_t inferences = schedule.batches.inferences;
    memory.constants_bytes = std::uint64_t{schedule.constant_rows} * schedule.target.geometry.rows;
    BufferNames names;
    const auto add = [&](TensorId id, isa::BufferKind kind, const std::string& name) {
        memory.add({.tensor = id,
                    .kind = kind,
                    .name = names.choose(name),
                    .address = 0,
                    .bytes_per_image = image_bytes(network.tensors[id])});
    };
    const auto border_name = [&](const char* side, const std::vector<TensorId>& all, std::size_t i) {
        return all.size() == 1 ? std::string(side) : fmt::format("{}.{}", side, network.tensors[all[i]].name);
    };
    for (std::size_t i = 0; i < network.inputs.size(); ++i) {
        add(network.inputs[i], isa::BufferKind::Input, border_name("input", network.inputs, i));
    }
    for (std::size_t i = 0; i < network.outputs.size(); ++i) {
        add(network.outputs[i], isa::BufferKind::Output, border_name("output", network.outputs, i));
    }
    for (const Layer& layer : network.layers) {
        std::vector<TensorId> exchanged;
        if (reads_host_memory(layer)) exchanged = layer.inputs;
        if (writes_host_memory(layer)) {
            const auto outputs = outputs_of(layer);
            exchanged.insert(exchanged.end(), outputs.begin(), outputs.end());
        }
        for (const TensorId id : exchanged) {
            if (!memory.places.contains(id))
                add(id, isa::BufferKind::Exchange, "exchange." + network.tensors[id].name);
        }
    }
    std::uint64_t bytes_per_image = 0;
    for (const HostTensor& tensor : memory.tensors) bytes_per_image += tensor.bytes_per_image;
    const std::uint64_t overhead = memory.constants_bytes + memory.tensors.size() * alignment;
    if (overhead > isa::host_memory_limit ||
        inferences > (isa::host_memory_limit - overhead) / bytes_per_image) {
        throw ModelError(fmt::format("{}: {} inferences take {} bytes each; the host has {} bytes",
                                     network.name, inferences, bytes_per_image, isa::host_memory_limit));
    }
    std::uint64_t end = memory.constants_bytes;
    for (HostTensor& tensor : memory.tensors) {
        tensor.address = round_up(end, alignment);
        end = tensor.address + inferences * tensor.bytes_per_image;
    }
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
    for (const HostTensor& tensor : memory.tensors) {
        buffers.push_back({.name = tensor.name,
                           .kind = tensor.kind,
                           .address = tensor.address,
                           .bytes = inferences * tensor.bytes_per_image,
                           .contents = {}});
    }
    return buffers;
}

std::vector<isa::HostSegment> host_segments(const Network& network, const HostMemory& memory,
                                            const std::vector<isa::HostBuffer>& buffers) {
    const std::size_t first = buffers.size() - memory.tensors.size();
    const auto tensor_of = [&](TensorId id) {
        const std::size_t place = memory.place_of(id);
        return isa::SegmentTensor{.buffer = static_cast<std::uint32_t>(first + place),
                                  .bytes = memory.tensors[place].bytes_per_image};
    };
    std::vector<isa::HostSegment> segments;
    for (const Layer& layer : network.layers) {
        const auto* const work = std::get_if<HostSegment>(&layer.work);
        if (work == nullptr) continue;
        isa::HostSegment& segment = segments.emplace_back();
        segment.name = layer.name;
        segment.layers = work->layers;
        segment.macs = work->macs;
        segment.operations = work->operations;
        segment.bytes = work->bytes;
        segment.constant_bytes = work->constant_bytes;
        if (work->graph) segment.graph = *work->graph;
        for (const TensorId id : layer.inputs) segment.reads.push_back(tensor_of(id));
        for (const TensorId id : layer.outputs) segment.writes.push_back(tensor_of(id));
    }
    return segments;
}

}  // namespace systole::tpu_v1

#include "sim/study/validate/null_models/roofline.h"

#include <algorithm>

namespace systole::null_models {
namespace {

constexpr std::uint32_t byte_bits = 8;  ///< elements of so many bits stream at one vector a cycle

std::uint64_t tiles_along(std::uint64_t cells, std::uint64_t array) {
    return (cells + array - 1) / array;
}

}  // namespace

Prediction roofline(const Network& network, std::uint64_t batch, const Chip& chip) {
    const double cells = static_cast<double>(chip.array) * static_cast<double>(chip.array);
    const double tile_cycles = cells / chip.weight_bytes_per_second * chip.clock_hz;
    Prediction sum;
    for (const Layer& layer : network.layers) {
        std::uint64_t rows = 0;
        std::uint64_t tiles_down = 0;
        for (const std::uint64_t matrix : layer.inputs) {
            rows += matrix;
            tiles_down += tiles_along(matrix, chip.array);
        }
        const std::uint64_t tiles = tiles_down * tiles_along(layer.columns, chip.array);
        const std::uint64_t passes = layer.bits / byte_bits;
        const auto streamed = static_cast<double>(batch * layer.vectors * passes);
        const double active = streamed * static_cast<double>(tiles);
        const double fetch = static_cast<double>(tiles) * tile_cycles;
        const double wait = std::max(0.0, fetch - active);
        const double shift = std::min(wait, static_cast<double>(tiles * chip.array));
        sum.total += active + wait;
        sum.active += active;
        sum.useful += streamed * static_cast<double>(rows * layer.columns) / cells;
        sum.stall += wait - shift;
        sum.shift += shift;
        sum.macs += static_cast<double>(batch * layer.vectors * rows * layer.columns);
        sum.tiles += tiles;
    }
    const auto bytes = static_cast<double>(batch * (network.input_bytes + network.output_bytes));
    sum.transfer = bytes / chip.link_bytes_per_second * chip.clock_hz;
    return sum;
}

std::uint64_t weights_of(const Network& network) {
    std::uint64_t weights = 0;
    for (const Layer& layer : network.layers) {
        for (const std::uint64_t rows : layer.inputs) weights += rows * layer.columns;
    }
    return weights;
}

std::uint64_t macs_of(const Network& network) {
    std::uint64_t macs = 0;
    for (const Layer& layer : network.layers) {
        for (const std::uint64_t rows : layer.inputs) macs += rows * layer.columns * layer.vectors;
    }
    return macs;
}

Network with_8_bits(Network network) {
    for (Layer& layer : network.layers) layer.bits = byte_bits;
    return network;
}

}  // namespace systole::null_models

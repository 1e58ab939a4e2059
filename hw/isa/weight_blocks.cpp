#include "hw/isa/weight_blocks.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/arithmetic.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {
namespace {

std::uint64_t weights_of_output(TileProduct product, const Registers& registers) {
    const std::uint64_t channels = at_least_one(registers, Register::SourceChannels);
    switch (product) {
        case TileProduct::Convolve:
            return saturating_product(tile_window(registers).taps(), channels);
        case TileProduct::Depthwise:
            return tile_window(registers).taps();
        case TileProduct::Dense:
            return channels;
    }
    throw std::logic_error("a product that does not exist");
}

}  // namespace

WeightBlocks weight_blocks(const TileMultiply& multiply, const Registers& registers, const TileGrid& grid) {
    WeightBlocks blocks;
    blocks.outputs = at_least_one(registers, Register::ResultChannels);
    blocks.weights = weights_of_output(multiply.product, registers);
    blocks.groups = divide_up(blocks.outputs, std::uint64_t{grid.lanes});
    blocks.lanes = blocks.outputs < grid.lanes
                       ? divide_up(blocks.outputs, std::uint64_t{tile_unit_lanes}) * tile_unit_lanes
                       : grid.lanes;
    blocks.parameter_rows = 1 + (multiply.by_channel ? multiplier_bytes(multiply.scaling) / tile_word : 0);
    blocks.weight_rows = divide_up(blocks.weights, std::uint64_t{tile_word});
    // The sum of so many products of two bytes, less their zero points, could exceed 32 bits; it wraps
    // around, but a longer one is no layer of a network.
    constexpr std::uint64_t most_weights = std::uint64_t{1} << 24;
    if (blocks.weights > most_weights) {
        throw ProgramError(
            fmt::format("an output channel has {} weights; the most are {}", blocks.weights, most_weights));
    }
    return blocks;
}

}  // namespace systole::isa

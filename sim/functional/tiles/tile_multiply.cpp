#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/arithmetic.h"
#include "base/fixed_point.h"
#include "hw/isa/tile_layout.h"
#include "hw/isa/weight_blocks.h"
#include "sim/functional/tiles/requantize.h"
#include "sim/functional/tiles/tile_instructions.h"

namespace systole::functional {
namespace {

/// The blocks of a product at their source.
class Parameters {
public:
    Parameters(const isa::TileMultiply& multiply, TileState& state)
        : multiply_(multiply),
          registers_(state.registers),
          lanes_(state.grid.lanes),
          blocks_(isa::weight_blocks(multiply, state.registers, state.grid)) {
        for (std::uint64_t group = 0; group < blocks_.groups; ++group) {
            groups_.push_back(bytes_of_group(group, state));
        }
    }

    const isa::WeightBlocks& blocks() const { return blocks_; }

    /// The block of a group, as `multicast` sends it.
    Block block(std::uint64_t group) const {
        const std::uint64_t size = multiply_.streamed ? blocks_.block_bytes() : blocks_.block_units();
        return {.streamed = multiply_.streamed,
                .address = multiply_.parameters + group * size,
                .rows = blocks_.rows(),
                .units = blocks_.row_units()};
    }

    std::int32_t bias(std::uint64_t output) const { return static_cast<std::int32_t>(word(output, 0)); }

    TileMultiplier multiplier(std::uint64_t output) const {
        if (!multiply_.by_channel) {
            return multiplier_of(registers_, isa::Register::VectorMultiplier, isa::Register::VectorShift);
        }
        const std::uint32_t first = word(output, 1);
        if (multiply_.scaling == isa::Scaling::Float) return {.single = std::bit_cast<float>(first)};
        const std::uint32_t second = word(output, 2);
        return {.fixed = static_cast<std::int32_t>(first),
                .shift = static_cast<std::int32_t>(second),
                .real = std::bit_cast<double>(std::uint64_t{second} << 32U | first)};
    }

    /// A weight of an output channel, less the zero point.
    std::int32_t weight(std::uint64_t output, std::uint64_t index) const {
        const std::uint64_t row = blocks_.parameter_rows + index / isa::tile_word;
        return number_of(byte(output, row, index % isa::tile_word), multiply_.has_signed_weights) -
               registers_.as_signed(isa::Register::MultiplyWeightZeroPoint);
    }

private:
    /// Byte `place` of the output channel's lane in a row of its block.
    std::uint8_t byte(std::uint64_t output, std::uint64_t row, std::uint64_t place) const {
        return groups_[output / lanes_][(row * blocks_.lanes + output % lanes_) * isa::tile_word + place];
    }

    std::uint32_t word(std::uint64_t output, std::uint64_t row) const {
        std::uint32_t bits = 0;
        for (std::uint32_t i = 0; i < isa::tile_word; ++i) {
            bits |= std::uint32_t{byte(output, row, i)} << (8 * i);
        }
        return bits;
    }

    std::vector<std::uint8_t> bytes_of_group(std::uint64_t group, TileState& state) const {
        const auto copy_of = [](std::span<const std::uint8_t> bytes) {
            return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
        };
        if (multiply_.streamed) return copy_of(state.host.range(block(group).address, blocks_.block_bytes()));
        if (multiply_.product != isa::TileProduct::Dense) {
            return copy_of(state.wide_memory.rows(block(group).address, blocks_.block_units()));
        }
        // The tile's own units: every so many-th of all.
        const std::uint64_t tiles = state.grid.tiles();
        const std::uint64_t first = multiply_.parameters + group / tiles * blocks_.block_units();
        std::vector<std::uint8_t> bytes;
        for (std::uint64_t unit = first; unit < first + blocks_.block_units(); ++unit) {
            const auto each = state.wide_memory.rows(unit * tiles + group % tiles, 1);
            bytes.insert(bytes.end(), each.begin(), each.end());
        }
        return bytes;
    }

    const isa::TileMultiply& multiply_;
    const isa::Registers& registers_;
    std::uint64_t lanes_;
    isa::WeightBlocks blocks_;
    std::vector<std::vector<std::uint8_t>> groups_;  ///< the bytes of each block
};

/// The byte of a result channel from the sum of its products.
std::uint8_t result_byte(const isa::TileMultiply& multiply, const Parameters& parameters,
                         std::uint64_t output, std::int32_t sum, const isa::Registers& registers) {
    const std::int32_t result =
        scaled(wrapping_add(sum, parameters.bias(output)), multiply.scaling, parameters.multiplier(output));
    return stored_number(wrapping_add(result, registers.as_signed(isa::Register::OutputZeroPoint)),
                         registers);
}

/// An element of the source, less the zero point.
std::int32_t activation(const isa::TileMultiply& multiply, TileState& state, std::uint64_t tile,
                        std::uint64_t address) {
    return number_of(state.narrow_byte(tile, address), multiply.is_signed) -
           state.registers.as_signed(isa::Register::SourceZeroPoint);
}

void multiply_vector(const isa::TileMultiply& multiply, const Parameters& parameters, TileState& state) {
    const std::uint64_t lanes = state.grid.lanes;
    const std::uint64_t tiles = state.grid.tiles();
    for (std::uint64_t output = 0; output < parameters.blocks().outputs; ++output) {
        const std::uint64_t group = output / lanes;
        const std::uint64_t tile = group % tiles;
        std::int32_t sum = 0;
        for (std::uint64_t i = 0; i < parameters.blocks().weights; ++i) {
            sum = wrapping_add(
                sum, activation(multiply, state, tile, multiply.source + i) * parameters.weight(output, i));
        }
        state.narrow_byte(tile, multiply.result + group / tiles * lanes + output % lanes) =
            result_byte(multiply, parameters, output, sum, state.registers);
    }
}

/// The sum of a result pixel's output channel, from what the pixel's tile stores.
std::int32_t window_sum(const isa::TileMultiply& multiply, const Parameters& parameters, TileState& state,
                        const TiledImage& source, std::uint64_t tile, const Pixel& corner,
                        const isa::TileWindow& window, std::uint64_t outputs, std::uint64_t output) {
    const auto channels = static_cast<std::uint64_t>(source.channels());
    const bool is_depthwise = multiply.product == isa::TileProduct::Depthwise;
    const std::uint64_t first_channel = is_depthwise ? output / (outputs / channels) : 0;
    const std::uint64_t behind_channel = is_depthwise ? first_channel + 1 : channels;
    std::int32_t sum = 0;
    std::uint64_t index = 0;
    for (std::uint64_t y = 0; y < window.kernel_height; ++y) {
        for (std::uint64_t x = 0; x < window.kernel_width; ++x) {
            const Pixel pixel{.line = corner.line + static_cast<std::int64_t>(y * window.dilation_y),
                              .column = corner.column + static_cast<std::int64_t>(x * window.dilation_x)};
            const std::uint64_t address = source.address(tile, pixel);
            for (std::uint64_t channel = first_channel; channel < behind_channel; ++channel) {
                sum = wrapping_add(sum, activation(multiply, state, tile, address + channel) *
                                            parameters.weight(output, index++));
            }
        }
    }
    return sum;
}

void multiply_windows(const isa::TileMultiply& multiply, const Parameters& parameters, TileState& state) {
    const TiledImage source(
        isa::tile_layout(state.registers, isa::source_registers, state.grid, multiply.source));
    const TiledImage result(
        isa::tile_layout(state.registers, isa::result_registers, state.grid, multiply.result));
    const isa::TileWindow window = isa::tile_window(state.registers);
    const std::uint64_t outputs = parameters.blocks().outputs;
    const auto outside = static_cast<std::uint8_t>(state.registers[isa::Register::OutputZeroPoint]);
    for (std::uint64_t tile = 0; tile < state.grid.tiles(); ++tile) {
        for (const Pixel& pixel : result.computed(tile, multiply.with_margins)) {
            const bool is_there = result.has(pixel);
            if (!is_there && !multiply.with_margins) continue;
            const std::uint64_t to = result.address(tile, pixel);
            const Pixel corner = window_corner(window, pixel);
            for (std::uint64_t output = 0; output < outputs; ++output) {
                state.narrow_byte(tile, to + output) =
                    is_there ? result_byte(multiply, parameters, output,
                                           window_sum(multiply, parameters, state, source, tile, corner,
                                                      window, outputs, output),
                                           state.registers)
                             : outside;
            }
        }
    }
}

/// Takes the blocks that `multicast` has sent: those of all groups, for each part of the pixels of the
/// fullest tile that it has sums for at once.
void take_blocks(const isa::TileMultiply& multiply, const Parameters& parameters, TileState& state) {
    const TiledImage result(
        isa::tile_layout(state.registers, isa::result_registers, state.grid, multiply.result));
    const std::uint64_t pixels = result.computed(0, multiply.with_margins).size();
    for (std::uint64_t first = 0; first < pixels; first += state.positions) {
        for (std::uint64_t group = 0; group < parameters.blocks().groups; ++group) {
            state.on_ring.take(parameters.block(group), "on the ring", "the product");
        }
    }
}

}  // namespace

void execute(const isa::TileMultiply& multiply, TileState& state) {
    const Parameters parameters(multiply, state);
    if (multiply.product == isa::TileProduct::Dense) {
        multiply_vector(multiply, parameters, state);
        return;
    }
    take_blocks(multiply, parameters, state);
    multiply_windows(multiply, parameters, state);
}

}  // namespace systole::functional

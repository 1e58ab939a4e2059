#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "hw/isa/multipliers.h"
#include "hw/isa/program.h"

/// The programs that tests/bench measures, for an array of 256 x 256.
namespace systole::bench {

inline constexpr std::uint32_t side = 256;

inline std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(random()); });
    return bytes;
}

inline isa::WeightTile random_tile(unsigned seed) {
    return {
        .rows = side, .columns = side, .useful_macs = side * side, .values = random_bytes(side * side, seed)};
}

/// Requantization of one column tile: no bias, a scale of 2^-16.
inline std::vector<std::uint8_t> plain_parameters() {
    constexpr std::size_t word = 4;
    std::vector<std::uint8_t> bytes(isa::parameter_bytes(isa::Multipliers::FixedPoint) * side);
    for (std::size_t column = 0; column < side; ++column) {
        bytes[(side + column) * word + word - 1] = 0x40;  // multiplier 2^30
        bytes[2 * side * word + column] = 0xF1;           // shift -15
    }
    return bytes;
}

/// Registers of `activate` for vectors of `column_tiles` tiles, one vector an image.
inline void set_up_activation(std::vector<isa::Instruction>& code, std::uint32_t column_tiles,
                              std::uint32_t parameters_row) {
    using isa::Register;
    code.push_back(isa::SetConfig{Register::ActivationColumns, side});
    code.push_back(isa::SetConfig{Register::ActivationPixelBytes, side * column_tiles});
    code.push_back(isa::SetConfig{Register::ActivationOutputsPerImage, 1});
    code.push_back(isa::SetConfig{Register::ActivationImageRows, column_tiles});
    code.push_back(isa::SetConfig{Register::ActivationParametersRow, parameters_row});
    code.push_back(isa::SetConfig{Register::MultiplyRowStride, column_tiles});
}

/// Semaphores of the programs below.
enum Semaphore : std::uint8_t { inputs_read, parameters_read, sums_ready, sums_taken, outputs_ready };

/// Dense layers of equal inputs and outputs, from host memory to host memory: what a network of large
/// layers does. Vectors lie one behind the other; the accumulators are filled and read in halves.
struct DenseLayers {
    std::uint32_t layers = 8;
    std::uint32_t tiles = 8;       ///< a layer's inputs and outputs, in tiles
    std::uint32_t vectors = 2048;  ///< rows streamed against each tile
    std::uint32_t accumulator_rows = 4096;

    std::uint32_t vector_rows() const { return vectors * tiles; }
    std::uint64_t bytes() const { return std::uint64_t{vector_rows()} * side; }
    /// Where layer `layer` reads; its results are the inputs of the next.
    std::uint32_t input_row(std::uint32_t layer) const { return layer % 2 * vector_rows(); }
    std::uint32_t tile_number(std::uint32_t layer, std::uint32_t column, std::uint32_t row) const {
        return (layer * tiles + column) * tiles + row;
    }
    std::uint32_t sums_row(std::uint32_t column) const { return column % 2 * (accumulator_rows / 2); }

    isa::Program program() const;
};

inline isa::Program DenseLayers::program() const {
    using isa::QueueId;
    isa::Program program;
    program.geometry = {.rows = side, .columns = side};
    for (unsigned tile = 0; tile < layers * tiles * tiles; ++tile) program.tiles.push_back(random_tile(tile));
    const std::vector<std::uint8_t> parameters = plain_parameters();
    program.buffers = {
        {.name = "parameters",
         .kind = isa::BufferKind::Constant,
         .address = 0,
         .bytes = parameters.size(),
         .contents = parameters},
        {.name = "in", .kind = isa::BufferKind::Input, .address = 1U << 20U, .bytes = bytes()},
        {.name = "out", .kind = isa::BufferKind::Output, .address = 1U << 30U, .bytes = bytes()}};

    std::vector<isa::Instruction>& code = program.instructions;
    const std::uint32_t parameters_row = 2 * vector_rows();
    const std::uint32_t vector_bytes = tiles * side;
    set_up_activation(code, tiles, parameters_row);
    code.push_back(isa::ReadHostMemory{.host_address = 0,
                                       .unified_buffer_row = parameters_row,
                                       .block_bytes = static_cast<std::uint32_t>(parameters.size())});
    code.push_back(isa::SyncSignal{QueueId::HostRead, parameters_read});
    code.push_back(isa::SyncWait{QueueId::Activation, parameters_read});
    code.push_back(isa::ReadHostMemory{.host_address = 1U << 20U,
                                       .unified_buffer_row = input_row(0),
                                       .block_bytes = vector_bytes,
                                       .blocks = static_cast<std::uint16_t>(vectors)});
    code.push_back(isa::SyncSignal{QueueId::HostRead, inputs_read});
    code.push_back(isa::SyncWait{QueueId::Matrix, inputs_read});
    std::uint32_t taken = 0;  // sums that the matrix unit knows to have been taken
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        for (std::uint32_t column = 0; column < tiles; ++column) {
            // All results of the layer before, or else the other half of the accumulators.
            const std::uint32_t done = layer * tiles + column;
            const std::uint32_t wanted = column == 0 ? done : done - 1;
            for (; taken < wanted; ++taken) code.push_back(isa::SyncWait{QueueId::Matrix, sums_taken});
            code.push_back(isa::ReadWeights{.first_tile = tile_number(layer, column, 0),
                                            .tiles = static_cast<std::uint16_t>(tiles)});
            code.push_back(
                isa::MatrixMultiply{.unified_buffer_row = input_row(layer),
                                    .accumulator_row = static_cast<std::uint16_t>(sums_row(column)),
                                    .length = vectors,
                                    .repeat = static_cast<std::uint8_t>(tiles - 1)});
            code.push_back(isa::SyncSignal{QueueId::Matrix, sums_ready});
            code.push_back(isa::SyncWait{QueueId::Activation, sums_ready});
            code.push_back(isa::SetConfig{isa::Register::ActivationChannelOffset, column * side});
            code.push_back(isa::Activate{.accumulator_row = static_cast<std::uint16_t>(sums_row(column)),
                                         .unified_buffer_row = input_row(layer + 1),
                                         .length = static_cast<std::uint16_t>(vectors),
                                         .load_parameters = true});
            code.push_back(isa::SyncSignal{QueueId::Activation, sums_taken});
        }
    }
    code.push_back(isa::SyncSignal{QueueId::Activation, outputs_ready});
    code.push_back(isa::SyncWait{QueueId::HostWrite, outputs_ready});
    code.push_back(isa::WriteHostMemory{.host_address = 1U << 30U,
                                        .unified_buffer_row = input_row(layers),
                                        .block_bytes = vector_bytes,
                                        .blocks = static_cast<std::uint16_t>(vectors)});
    code.push_back(isa::Halt{});
    return program;
}

/// Products of `rows` rows by a new tile each, four of them summed, activated, and the results taken as
/// inputs: at most `instructions` instructions, sync included, and no host transfers.
inline isa::Program small_products(std::uint32_t rows, std::size_t instructions) {
    using isa::QueueId;
    constexpr std::uint32_t tiles = 4;
    constexpr std::size_t group = 2 * tiles + 6;
    isa::Program program;
    program.geometry = {.rows = side, .columns = side};
    program.tiles.push_back(random_tile(0));
    std::vector<isa::Instruction>& code = program.instructions;
    code.reserve(instructions);
    set_up_activation(code, tiles, 2 * rows * tiles);
    for (std::uint32_t number = 0; code.size() + group <= instructions; ++number) {
        const auto sums = static_cast<std::uint16_t>(number % 2 * rows);
        const std::uint32_t in = number % 2 * rows * tiles;
        const std::uint32_t out = (number + 1) % 2 * rows * tiles;
        for (std::uint32_t tile = 0; tile < tiles; ++tile) {
            code.push_back(isa::ReadWeights{.first_tile = 0, .tiles = 1});
            code.push_back(isa::MatrixMultiply{.unified_buffer_row = in + tile,
                                               .accumulator_row = sums,
                                               .length = rows,
                                               .flags = {.accumulate = tile > 0}});
        }
        code.push_back(isa::SyncSignal{QueueId::Matrix, sums_ready});
        code.push_back(isa::SyncWait{QueueId::Activation, sums_ready});
        code.push_back(isa::SetConfig{isa::Register::ActivationChannelOffset, number % tiles * side});
        code.push_back(isa::Activate{
            .accumulator_row = sums, .unified_buffer_row = out, .length = static_cast<std::uint16_t>(rows)});
        code.push_back(isa::SyncSignal{QueueId::Activation, sums_taken});
        code.push_back(isa::SyncWait{QueueId::Matrix, sums_taken});
    }
    code.push_back(isa::Halt{});
    return program;
}

/// One tile and many rows, with a new element for each cell in each cycle.
inline isa::Program busy_array(std::uint32_t streams, std::uint32_t rows) {
    using isa::QueueId;
    isa::Program program;
    program.geometry = {.rows = side, .columns = side};
    program.tiles.push_back(random_tile(0));
    const std::uint32_t bytes = rows * side;
    program.buffers.push_back({.name = "in",
                               .kind = isa::BufferKind::Constant,
                               .address = 0,
                               .bytes = bytes,
                               .contents = random_bytes(bytes, 1)});
    program.instructions = {
        isa::ReadHostMemory{.host_address = 0, .unified_buffer_row = 0, .block_bytes = bytes},
        isa::SyncSignal{QueueId::HostRead, inputs_read}, isa::SyncWait{QueueId::Matrix, inputs_read},
        isa::ReadWeights{.first_tile = 0, .tiles = 1}};
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
        program.instructions.push_back(
            isa::MatrixMultiply{.length = rows, .flags = {.keep_weights = stream > 0}});
    }
    program.instructions.push_back(isa::Halt{});
    return program;
}

/// So many tiles, a row streamed against each.
inline isa::Program every_tile_once(std::uint32_t tiles) {
    isa::Program program;
    program.geometry = {.rows = side, .columns = side};
    program.tiles.resize(tiles, random_tile(0));
    for (std::uint32_t tile = 0; tile < tiles; ++tile) {
        program.instructions.push_back(isa::ReadWeights{.first_tile = tile, .tiles = 1});
        program.instructions.push_back(isa::MatrixMultiply{.length = 1});
    }
    program.instructions.push_back(isa::Halt{});
    return program;
}

}  // namespace systole::bench

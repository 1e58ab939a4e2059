#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/wrapped_sum.h"
#include "hw/isa/block.h"
#include "hw/isa/program_error.h"
#include "hw/isa/window.h"
#include "hw/math/gemm.h"
#include "hw/math/window.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {
namespace {

/// Activations on their way into the array, packed row by row.
struct StreamedRows {
    std::uint64_t rows = 0;
    std::uint64_t elements = 0;  ///< of a row
    std::vector<std::uint8_t> bytes = {};
};

/// The tile a repetition uses.
const isa::WeightTile& take_tile(const isa::MatrixFlags& flags, WeightQueue& weights) {
    const isa::WeightTile& tile = flags.keep_weights ? weights.current() : weights.next();
    if (tile.type != flags.weights) {
        throw isa::ProgramError(fmt::format("the tile has weights of {} bits; wide_w must {}be given",
                                            8 * bytes_of(tile.type),
                                            bytes_of(flags.weights) == 2 ? "not " : ""));
    }
    return tile;
}

/// Multiplies the rows with the tile into the columns it uses of as many accumulator rows; the other
/// columns keep their values.
void multiply(const StreamedRows& streamed, const isa::WeightTile& tile, const isa::MatrixFlags& flags,
              bool accumulate, std::uint64_t accumulator_row, State& state) {
    std::int32_t* const sums = state.accumulators.rows(accumulator_row, streamed.rows).data();
    const std::size_t sums_stride = state.accumulators.row_elements();
    const math::GemmOperand activations{.data = streamed.bytes.data(),
                                        .row_bytes = streamed.elements * bytes_of(flags.activations),
                                        .type = flags.activations};
    const math::GemmOperand weights{
        .data = tile.values.data(),
        .row_bytes = std::size_t{tile.columns} * bytes_of(tile.type),
        .type = tile.type,
        .zero_point = state.registers.as_signed(isa::Register::MultiplyWeightZeroPoint)};
    math::multiply_accumulate(activations, weights, sums, sums_stride, streamed.rows, tile.columns,
                              streamed.elements, accumulate);
    wrap_sums(sums, sums_stride, streamed.rows, tile.columns, state.sum_bits);
}

/// Runs all repetitions; `stream(repetition, tile)` gives the rows of one.
template <class MatrixInstruction, class Stream>
void repeat(const MatrixInstruction& instruction, State& state, Stream stream) {
    for (std::uint32_t repetition = 0; repetition <= instruction.repeat; ++repetition) {
        const isa::WeightTile& tile = take_tile(instruction.flags, state.weights);
        multiply(stream(repetition, tile), tile, instruction.flags,
                 instruction.flags.accumulate || repetition > 0, instruction.accumulator_row, state);
    }
}

}  // namespace

void execute(const isa::ReadWeights& read, State& state) {
    state.weights.fetch(read.first_tile, read.tiles);
}

void execute(const isa::MatrixMultiply& matmul, State& state) {
    const std::uint64_t stride = state.registers[isa::Register::MultiplyRowStride];
    const std::uint64_t operand_rows = bytes_of(matmul.flags.activations);
    repeat(matmul, state, [&](std::uint32_t repetition, const isa::WeightTile& tile) {
        // Array rows the tile does not use have zeros as weights.
        StreamedRows streamed{.rows = matmul.length, .elements = tile.rows};
        const std::size_t bytes = streamed.elements * bytes_of(matmul.flags.activations);
        streamed.bytes.reserve(streamed.rows * bytes);
        for (std::uint64_t b = 0; b < matmul.length; ++b) {
            const std::uint64_t row = matmul.unified_buffer_row + b * stride + repetition * operand_rows;
            const auto operand = state.unified_buffer.rows(row, operand_rows).first(bytes);
            streamed.bytes.insert(streamed.bytes.end(), operand.begin(), operand.end());
        }
        return streamed;
    });
}

void execute(const isa::Convolve& convolve, State& state) {
    const isa::Registers& registers = state.registers;
    const auto geometry = isa::window_geometry(registers, state.row_bytes());
    const std::uint64_t window_elements = isa::window_elements(registers);
    const auto tensor = state.unified_buffer.from_row(convolve.unified_buffer_row);
    const auto blocks = isa::block_geometry(registers);
    repeat(convolve, state, [&](std::uint32_t repetition, const isa::WeightTile& tile) {
        if (blocks && !tile.block_macs.empty() && tile.block_macs.size() != blocks->pixels()) {
            throw isa::ProgramError(
                fmt::format("the tile is for blocks of {} pixels; block.width times block.height is {}",
                            tile.block_macs.size(), blocks->pixels()));
        }
        const std::uint64_t begin =
            (std::uint64_t{registers[isa::Register::WindowTile]} + repetition) * state.array.rows;
        // Array rows behind the window's last element take zeros, and rows the tile does not use have
        // zeros as weights.
        StreamedRows streamed{.rows = std::uint64_t{convolve.lines} * geometry.output_width,
                              .elements = std::min<std::uint64_t>(tile.rows, window_elements - begin)};
        const std::size_t element_bytes = bytes_of(convolve.flags.activations);
        streamed.bytes.resize(streamed.rows * streamed.elements * element_bytes);
        const math::WindowRange range{.begin = begin,
                                      .count = streamed.elements,
                                      .first_line = convolve.first_line,
                                      .lines = convolve.lines};
        math::gather_windows(tensor.data(), geometry, range,
                             static_cast<std::uint16_t>(registers[isa::Register::WindowPadValue]),
                             element_bytes, streamed.bytes.data(), streamed.elements * element_bytes);
        return streamed;
    });
}

}  // namespace systole::functional

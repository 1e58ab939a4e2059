#include <cstdint>
#include <utility>

#include "hw/isa/program_error.h"
#include "hw/math/diagonal_blocks.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {

void execute(const isa::WriteWeights& write, State& state) {
    if (const auto refusal = state.weight_memory.refusal_of_write(state.tile_ends.at(write.tile))) {
        throw isa::ProgramError(*refusal);
    }
    isa::WeightTile tile = state.program.tiles[write.tile];
    const math::DiagonalBlocks blocks{.rows = write.rows,
                                      .columns = write.columns,
                                      .blocks = write.blocks,
                                      .stride = write.stride,
                                      .is_signed = write.is_signed,
                                      .transposed = write.transposed,
                                      .outside = static_cast<std::int8_t>(
                                          state.registers.as_signed(isa::Register::MultiplyWeightZeroPoint))};
    const std::uint8_t* const source =
        state.unified_buffer.from_row(write.unified_buffer_row).data() + write.first_byte;
    math::write_diagonal_blocks(source, blocks,
                                {.values = tile.values.data(),
                                 .rows = tile.rows,
                                 .columns = tile.columns,
                                 .row_bytes = tile.columns});
    state.weights.write(write.tile, std::move(tile));
}

}  // namespace systole::functional

#include "hw/weight_writer/weight_writer.h"

#include <cstddef>
#include <variant>

#include "hw/common/ports.h"
#include "hw/isa/instruction.h"
#include "hw/isa/queue.h"
#include "hw/math/diagonal_blocks.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

WeightWriter::WeightWriter(const sc_core::sc_module_name& name, const UnitContext& context,
                           UnifiedBufferAccess& buffer, SharedWeights& memory, const ArrivedWeights& arrived)
    : QueuedUnit(name, isa::QueueId::WeightWrite, {.track = "weight writer", .signals = "weight_writer."},
                 context),
      buffer_(buffer),
      memory_(memory),
      arrived_(arrived) {
    context.waits.set_role(isa::QueueId::WeightWrite, QueueRole::Fetches);
    register_counters(counters_);
    start("weight_writer", [this](const Command& command) { execute(command); });
}

void WeightWriter::load(const isa::Program& program, std::uint64_t address) {
    program_ = &program;
    ends_ = isa::tile_ends(program, address);
}

void WeightWriter::execute(const Command& command) {
    const auto& write = std::get<isa::WriteWeights>(command.bound.instruction);
    const timing::TileWriteCost cost =
        timing::tile_write_cost(write, program_->tiles.at(write.tile), context_.machine);
    context_.ports.acquire(weight_write_user, {{.port = buffer_read_port, .cycles = cost.buffer_accesses}});
    waited(counters_.port_stall_cycles);
    const Cycle begun = begin();
    if (context_.computes_values()) write_values(command);
    context_.clock.wait_until(begun + cost.buffer_accesses);
    memory_.request_write(context_.core, cost.bytes, command.tag);
    const Cycle written = memory_.next_written(context_.core);
    context_.clock.wait_until(written);
    buffer_.count_reads(cost.buffer_accesses, command.tag);
    counters_.buffer_reads.add(cost.buffer_accesses, command.tag);
    counters_.bytes.add(cost.bytes, command.tag);
    counters_.tiles.add(1, command.tag);
    complete(written, written);
}

void WeightWriter::write_values(const Command& command) {
    const auto& write = std::get<isa::WriteWeights>(command.bound.instruction);
    const isa::WeightTile& tile = program_->tiles.at(write.tile);
    const math::DiagonalBlocks blocks{.rows = write.rows,
                                      .columns = write.columns,
                                      .blocks = write.blocks,
                                      .stride = write.stride,
                                      .is_signed = write.is_signed,
                                      .transposed = write.transposed,
                                      .outside = static_cast<std::int8_t>(command.bound.registers->as_signed(
                                          isa::Register::MultiplyWeightZeroPoint))};
    const isa::RowRange rows = command.bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer);
    const std::uint8_t* const source =
        buffer_.read(rows.first, rows.count()) + write.first_byte % buffer_.row_bytes();
    const std::size_t columns = context_.machine.matrix_unit.columns;
    std::uint8_t* const values =
        memory_.written_tile(ends_.at(write.tile) - isa::memory_bytes(tile, program_->geometry));
    sc_assert(values != nullptr);  // the system made memory of its own for the tiles that the program writes
    const math::WrittenTile written{
        .values = values, .rows = tile.rows, .columns = tile.columns, .row_bytes = columns};
    compute([source, blocks, written](ValueWorkers::Scratch&) {
        math::write_diagonal_blocks(source, blocks, written);
    });
}

}  // namespace systole::hw

// What the unit says of itself.
#include <fmt/format.h>

#include <algorithm>

#include "hw/common/weight_link.h"
#include "hw/isa/instruction.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"
#include "hw/timing/transfers.h"
#include "hw/weight_fifo/weight_fifo.h"

namespace systole::hw {

void WeightFifo::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Weight FIFO",
                .column = 3,
                .row = 0,
                .lines = {{fmt::format("{} tiles of {{}}", depth_),
                           {{static_cast<double>(machine.tile_bytes()), "bytes"}}}}};
    unit.occupied = {
        .title = "Weight FIFO", .figure = "weight_fifo_tiles", .unit = "tiles", .capacity = depth_};
    // The floorplan does not name the FIFO: by its bytes, as a memory like the unified buffer.
    namespace floorplan = machine::floorplan;
    constexpr double bytes_of_v1 = 4.0 * 65536.0;
    constexpr double percent =
        floorplan::unified_buffer_percent * bytes_of_v1 / floorplan::unified_buffer_bytes;
    const auto bytes = static_cast<double>(machine.weight_fifo.depth_tiles * machine.tile_bytes());
    unit.die_part = {.name = "weight_fifo",
                     .label = "weight FIFO",
                     .place = 9,
                     .percent = floorplan::memory_of_size(percent, bytes / bytes_of_v1),
                     .unnamed_percent = percent};
    unit.paths = {{.from = "weight_memory",
                   .to = "weight_fifo",
                   .counters = {"weight_fifo.bytes"},
                   .unit = "bytes",
                   .most = machine.weight_rate(),
                   .traffic = "weight",
                   .label = "weight memory"},
                  // A tile shifts in one array row a cycle.
                  {.from = "weight_fifo",
                   .to = "matrix_unit",
                   .counters = {"weight_fifo.shifted_bytes"},
                   .unit = "bytes",
                   .most = {machine.matrix_unit.columns, 1},
                   .figures = machine::Side::Left}};
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"weight_memory", "weight_fifo.bytes", each.weight_byte, "weight_fetch"},
                   {"weight_fifo", "weight_fifo.bytes", each.fifo_byte, "weight_fetch"},
                   {"weight_fifo", "weight_fifo.spilled_bytes", each.fifo_byte, "weight_fetch"},
                   {"weight_fifo", "weight_fifo.shifted_bytes", each.fifo_byte, "weight_shift"}};
}

std::vector<UnitBound> WeightFifo::bounds(const machine::MachineConfig& machine) const {
    // The chip's own DRAM counts the clocks in which it is busy.
    const bool has_own_memory = where_ == TileValues::InMemory;
    if (has_own_memory && machine.weight_memory.model == machine::WeightMemoryModel::Dram) return {};
    // The weight writer says it for reads and writes; it has no memory but the chip's own.
    if (has_own_memory && machine.weight_memory.writable) return {};
    return {weight_memory_bound([this, &machine](const Amounts& amounts) {
        return timing::weight_read_cycles(from_memory(amounts), machine);
    })};
}

std::uint64_t WeightFifo::from_memory(const Amounts& amounts) const {
    // A tile that never reaches the array may not have arrived when the run ends.
    const std::uint64_t shifted = amounts.of(counters().shifted_bytes);
    const std::uint64_t spilled = amounts.of(counters().spilled_bytes);
    return shifted - std::min(shifted, spilled);
}

std::optional<AwaitedWork> WeightFifo::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Weights) return std::nullopt;
    const auto takes = [](const isa::Instruction& instruction) {
        const isa::MatrixFlags* const flags = isa::matrix_flags(instruction);
        return flags != nullptr && !flags->keep_weights;
    };
    return AwaitedWork{.from = isa::QueueId::Matrix,
                       .gives = takes,
                       .words = "for a free slot of the weight FIFO, whose tiles {} takes",
                       .nobody = "no instruction"};
}

}  // namespace systole::hw

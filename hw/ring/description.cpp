// What the unit says of itself.
#include <fmt/format.h>

#include <variant>

#include "hw/isa/instruction.h"
#include "hw/ring/ring.h"
#include "hw/timing/tiles.h"

namespace systole::hw {

void RingBus::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Ring",
                .column = 1,
                .row = 1,
                .lines = {{fmt::format("{:g} B a cycle to all tiles", machine.ring.bytes_per_cycle)}},
                .busy_counter = "ring.busy_cycles",
                .word = "sending"};
    unit.paths = {{.from = "wide_memory",
                   .to = "ring",
                   .counters = {"ring.wide_bytes"},
                   .unit = "bytes",
                   .most = machine.ring_rate(),
                   .shift_y = -20},
                  {.from = "ring",
                   .to = "tile_array",
                   .counters = {"ring.parameter_bytes", "ring.vector_bytes"},
                   .unit = "bytes",
                   .most = machine.ring_rate(),
                   .figures = machine::Side::Below,
                   .shift_y = 20}};
    unit.what_ifs = {
        {"ring", "2x the ring's bandwidth", {{"ring.bytes_per_cycle", 2 * machine.ring.bytes_per_cycle}}},
        {"weight_buffers",
         "2x the weight buffers",
         {{"tile_array.weight_buffers", 2 * machine.tile_array.weight_buffers}}}};
    if (!machine.tile_energy) return;
    // What the ring sends, all tiles write into their buffers.
    unit.energy = {{"ring", "ring.busy_cycles",
                    machine.tile_energy->tile_cycle_pj * machine.tile_array.tiles(), "ring"}};
}

std::vector<UnitBound> RingBus::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "ring",
             .part = "ring",
             .meaning = "parameters and vectors are sent to the tiles",
             .place = 3,
             .computes = true,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return timing::ring_cycles(
                     amounts.of(counters().parameter_bytes) + amounts.of(counters().vector_bytes), machine);
             }}};
}

std::optional<AwaitedWork> RingBus::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Ring) return std::nullopt;
    if (sent_.size() < buffers_) {
        const auto streams = [](const isa::Instruction& instruction) {
            return std::holds_alternative<isa::StreamParameters>(instruction);
        };
        return AwaitedWork{.from = isa::QueueId::HostRead,
                           .gives = streams,
                           .words = "for parameters in the staging buffer, which {} brings",
                           .nobody = "no stream_parameters"};
    }
    const auto takes = [](const isa::Instruction& instruction) {
        const auto* const multiply = std::get_if<isa::TileMultiply>(&instruction);
        return multiply != nullptr && multiply->product != isa::TileProduct::Dense;
    };
    return AwaitedWork{.from = isa::QueueId::Tiles,
                       .gives = takes,
                       .words = "for a free weight buffer, whose weights {} takes",
                       .nobody = "no instruction"};
}

}  // namespace systole::hw

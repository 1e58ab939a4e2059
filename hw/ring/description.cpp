// What the unit says of itself.
#include <fmt/format.h>

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
}

std::vector<UnitBound> RingBus::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "ring",
             .part = "the ring",
             .meaning = "parameters and vectors are sent to the tiles",
             .place = 3,
             .computes = true,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return timing::ring_cycles(
                     amounts.of(counters().parameter_bytes) + amounts.of(counters().vector_bytes), machine);
             }}};
}

}  // namespace systole::hw

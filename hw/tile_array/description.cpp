// What the unit says of itself.
#include <fmt/format.h>

#include "hw/tile_array/tile_array.h"
#include "hw/timing/tiles.h"

namespace systole::hw {

void TileArray::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::TileArrayConfig& array = machine.tile_array;
    unit.box = {
        .title = "Tiles",
        .column = 2,
        .row = 1,
        .lines = {{fmt::format("{} x {} tiles of {} lanes", array.lines, array.columns, array.lanes)},
                  {"{} multiply-accumulates a cycle", {{static_cast<double>(macs_a_cycle(grid_)), "count"}}}},
        .busy_counter = "tile_array.busy_cycles",
        .word = "computing"};
    unit.paths = {{.from = "narrow_memory",
                   .to = "tile_array",
                   .counters = {"narrow_memory.read_bytes"},
                   .unit = "bytes",
                   .most = {.bytes = std::uint64_t{isa::tile_word} * array.tiles(), .cycles = 1}}};
    unit.what_ifs = {{"depthwise",
                      "twice the rate of depthwise products",
                      {{"tile_array.depthwise_macs_per_cycle", 2 * array.depthwise_macs_per_cycle}}}};
}

std::vector<UnitBound> TileArray::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "macs",
             .part = "the tiles",
             .meaning = "all lanes multiply for the layer",
             .place = 0,
             .computes = true,
             .cycles =
                 [this](const Amounts& amounts) {
                     const std::uint64_t each = macs_a_cycle(grid_);
                     return (amounts.of(done_.work.useful_macs) + each - 1) / each;
                 }},
            {.name = "array",
             .part = "the tiles",
             .meaning = "the tiles multiply",
             .place = 1,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(done_.work.multiply_cycles); }},
            {.name = "vector",
             .part = "the tiles",
             .meaning = "the tiles work without weights",
             .place = 2,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(done_.work.vector_cycles); }}};
}

}  // namespace systole::hw

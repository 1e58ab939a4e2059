// What the unit says of itself.
#include <fmt/format.h>

#include <cstdint>

#include "hw/mesh/mesh.h"

namespace systole::hw {

void Mesh::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Mesh",
                .column = 3,
                .row = 3,
                .lines = {{fmt::format("{:g} B a cycle and link", machine.mesh.bytes_per_cycle)}},
                .busy_counter = "mesh.busy_cycles",
                .word = "sending"};
    // Each two neighbours have a link in each direction.
    const std::uint64_t lines = machine.tile_array.lines;
    const std::uint64_t columns = machine.tile_array.columns;
    const std::uint64_t links = 2 * (lines * (columns - 1) + columns * (lines - 1));
    const Rate each = machine.mesh_rate();
    unit.paths = {{.from = "mesh",
                   .to = "narrow_memory",
                   .counters = {"mesh.bytes"},
                   .unit = "bytes",
                   .most = {links * each.bytes, each.cycles},
                   .figures = machine::Side::Right}};
    unit.what_ifs = {
        {"mesh", "2x the mesh's bandwidth", {{"mesh.bytes_per_cycle", 2 * machine.mesh.bytes_per_cycle}}}};
}

std::vector<UnitBound> Mesh::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "mesh",
             .part = "mesh",
             .meaning = "neighbours fill their margins",
             .place = 4,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(counters().busy_cycles); }}};
}

}  // namespace systole::hw

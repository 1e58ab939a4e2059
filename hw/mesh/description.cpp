// What the unit says of itself.
#include "hw/mesh/mesh.h"

namespace systole::hw {

void Mesh::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Mesh",
                .column = 1,
                .row = 2,
                .lines = {{"{} a cycle and link", {{machine.mesh.bytes_per_cycle, "bytes"}}}},
                .busy_counter = "mesh.busy_cycles",
                .word = "sending"};
    unit.paths = {{.from = "mesh",
                   .to = "narrow_memory",
                   .counters = {"mesh.bytes"},
                   .unit = "bytes",
                   .most = machine.mesh_rate()}};
    unit.what_ifs = {
        {"mesh", "2x the mesh's bandwidth", {{"mesh.bytes_per_cycle", 2 * machine.mesh.bytes_per_cycle}}}};
}

std::vector<UnitBound> Mesh::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "mesh",
             .part = "the mesh",
             .meaning = "neighbours fill their margins",
             .place = 4,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(counters().busy_cycles); }}};
}

}  // namespace systole::hw

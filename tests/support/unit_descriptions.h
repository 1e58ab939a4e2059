#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"

namespace systole::tests {

/// What the units of a machine say of themselves, when a program that needs the host is loaded.
inline std::vector<machine::UnitDescription> descriptions_of(const machine::MachineConfig& machine) {
    const FreshSimulation simulation;
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    const std::string made_for =
        machine.family == machine::Family::TensorCore
            ? fmt::format(".tensor_core {} {} lanes={}", array.rows, array.columns, machine.vector_unit.lanes)
            : fmt::format(".array {} {}", array.rows, array.columns);
    isa::Program program = isa::assemble(made_for + "\nhalt\n", "test");
    program.instructions.emplace_back(isa::HostWork{});
    const hw::System system(
        "system", machine, program,
        {.values = hw::Values::TimingOnly, .host = &mixing_host(), .test_delta_delay = {}});
    return system.descriptions();
}

}  // namespace systole::tests

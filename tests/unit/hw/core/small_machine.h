#pragma once

#include "hw/machine/machine_config.h"

namespace systole::tests {

/// An array of 8 x 6 with little memory.
inline machine::MachineConfig small_machine() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 8;
    machine.matrix_unit.columns = 6;
    machine.unified_buffer.rows = 64;
    machine.accumulators.rows = 32;
    return machine;
}

}  // namespace systole::tests

#pragma once

#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// Cycles from the end of what comes before the work of a tag to the end of this work.
struct TaggedCycles {
    std::uint16_t tag = 0;
    Cycle cycles = 0;
};

struct Prediction {
    Cycle cycles = 0;
    Cycle memory_cycles = 0;               ///< of them, those that high-bandwidth memory is busy
    std::vector<TaggedCycles> parts = {};  ///< in the order of the program; their sum is `cycles`
};

/// About the cycles of a program: instructions are issued in order, each unit executes its queue in order and
/// waits for the signals of others, and high-bandwidth memory serves a transfer as soon as there is room. The
/// costs are those of hw/timing; inputs that wait for instructions on the host's link are left out.
Prediction predict(const isa::Program& program, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core

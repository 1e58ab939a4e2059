#pragma once

#include <variant>

#include "hw/isa/instruction.h"

namespace systole::trace {

/// Whether a unit's queue executes the instruction itself, so that the unit never receives it.
inline bool is_sync(const isa::Instruction& instruction) {
    return std::holds_alternative<isa::SyncWait>(instruction) ||
           std::holds_alternative<isa::SyncSignal>(instruction);
}

}  // namespace systole::trace

#pragma once

#include <memory>

#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"

namespace systole::isa {

/// An instruction as the sequencer issues it: with the register values that hold for it and the rows
/// it touches.
struct BoundInstruction {
    Instruction instruction;
    std::shared_ptr<const Registers> registers;
    Footprint footprint;
};

}  // namespace systole::isa

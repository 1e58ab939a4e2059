#pragma once

#include <map>
#include <memory>

#include "hw/common/order_checker.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program.h"

namespace systole::trace {

/// The instructions of a program that touch rows as the sequencer issues them, for who hears of them by
/// number.
class BoundInstructions {
public:
    /// The program must outlive the object.
    explicit BoundInstructions(const isa::Program& program) : program_(program) {}

    /// Of an instruction that touches rows; until it is dropped.
    const isa::BoundInstruction& operator[](hw::InstructionNumber number);
    /// Nobody asks for it again.
    void drop(hw::InstructionNumber number) { bound_.erase(number); }

private:
    const isa::Program& program_;
    hw::InstructionNumber next_ = 0;  ///< not bound yet
    std::shared_ptr<const isa::Registers> registers_ = std::make_shared<isa::Registers>();
    std::map<hw::InstructionNumber, isa::BoundInstruction> bound_;
};

}  // namespace systole::trace

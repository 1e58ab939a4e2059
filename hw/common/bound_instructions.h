#pragma once

#include <map>
#include <memory>
#include <variant>

#include "hw/common/order_checker.h"
#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"

namespace systole::hw {

/// The instructions of a program that access rows, with their registers bound as the sequencer issues them.
/// Waves, which receive instruction numbers, look them up here.
class BoundInstructions {
public:
    /// The program must outlive the object.
    explicit BoundInstructions(const isa::Program& program) : program_(program) {}

    /// The instruction of this number, which accesses rows and has not been dropped.
    const isa::BoundInstruction& operator[](InstructionNumber number);
    /// The instruction will not be looked up again.
    void drop(InstructionNumber number) { bound_.erase(number); }

private:
    const isa::Program& program_;
    InstructionNumber next_ = 0;  ///< the first instruction that has not been bound
    std::shared_ptr<const isa::Registers> registers_ = std::make_shared<isa::Registers>();
    std::map<InstructionNumber, isa::BoundInstruction> bound_;
};

/// Whether a unit's queue executes the instruction itself, so that the unit never receives it.
inline bool is_sync(const isa::Instruction& instruction) {
    return std::holds_alternative<isa::SyncWait>(instruction) ||
           std::holds_alternative<isa::SyncSignal>(instruction);
}

}  // namespace systole::hw

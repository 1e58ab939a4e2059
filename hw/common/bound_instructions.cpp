#include "hw/common/bound_instructions.h"

#include <variant>

#include "hw/isa/footprint.h"

namespace systole::hw {
namespace {

bool has_rows(const isa::Instruction& instruction) {
    return isa::queue_of(instruction) && !is_sync(instruction) &&
           !std::holds_alternative<isa::ReadWeights>(instruction);
}

}  // namespace

const isa::BoundInstruction& BoundInstructions::operator[](InstructionNumber number) {
    for (; next_ <= number; ++next_) {
        const isa::Instruction& instruction = program_.instructions[next_];
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) {
            isa::Registers changed = *registers_;
            changed.set(set->reg, set->value);
            registers_ = std::make_shared<const isa::Registers>(changed);
        } else if (has_rows(instruction)) {
            bound_[next_] = {instruction, registers_, isa::footprint(instruction, *registers_, program_)};
        }
    }
    return bound_.at(number);
}

}  // namespace systole::hw

#pragma once

#include <cstdint>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"

namespace systole::emit {

/// Instructions in program order. It knows what registers and tag contain, and writes them only when they
/// change.
class InstructionStream {
public:
    void append(const isa::Instruction& instruction) { instructions_.push_back(instruction); }
    void set(isa::Register reg, std::uint32_t value);
    void set_signed(isa::Register reg, std::int32_t value) { set(reg, static_cast<std::uint32_t>(value)); }
    void tag(std::uint16_t tag);

    std::vector<isa::Instruction> take() { return std::move(instructions_); }

private:
    std::vector<isa::Instruction> instructions_;
    isa::Registers registers_;
    std::uint16_t tag_ = 0;
};

}  // namespace systole::emit

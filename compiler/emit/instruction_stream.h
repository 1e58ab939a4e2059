#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"

namespace systole::emit {

/// The instructions in program order. It tracks registers and tag and writes them only when they change.
/// Registers that hold values of the network (zero points, multipliers) are written once in each layer even
/// if they do not change, so that the number of instructions depends on the network's shapes only.
class InstructionStream {
public:
    void append(const isa::Instruction& instruction) { instructions_.push_back(instruction); }
    void set(isa::Register reg, std::uint32_t value);
    /// Sets a register to a value of the network.
    void set_value(isa::Register reg, std::int32_t value);
    /// Begins the work of another layer.
    void begin_layer() { written_.reset(); }
    void tag(std::uint16_t tag);

    std::vector<isa::Instruction> take() { return std::move(instructions_); }

private:
    std::vector<isa::Instruction> instructions_;
    isa::Registers registers_;
    std::bitset<isa::register_count> written_;  ///< registers written by set_value since the layer began
    std::uint16_t tag_ = 0;
};

}  // namespace systole::emit

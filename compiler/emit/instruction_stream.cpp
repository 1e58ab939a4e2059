#include "compiler/emit/instruction_stream.h"

namespace systole::emit {

void InstructionStream::set(isa::Register reg, std::uint32_t value) {
    if (registers_[reg] == value) return;
    registers_.set(reg, value);
    append(isa::SetConfig{.reg = reg, .value = value});
}

void InstructionStream::set_value(isa::Register reg, std::int32_t value) {
    const auto index = static_cast<std::size_t>(reg);
    const auto bits = static_cast<std::uint32_t>(value);
    if (written_[index] && registers_[reg] == bits) return;
    written_.set(index);
    registers_.set(reg, bits);
    append(isa::SetConfig{.reg = reg, .value = bits});
}

void InstructionStream::tag(std::uint16_t tag) {
    if (tag_ == tag) return;
    tag_ = tag;
    append(isa::DebugTag{.tag = tag});
}

}  // namespace systole::emit

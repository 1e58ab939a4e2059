#include "compiler/emit/instruction_stream.h"

namespace systole::emit {

void InstructionStream::set(isa::Register reg, std::uint32_t value) {
    if (registers_[reg] == value) return;
    registers_.set(reg, value);
    append(isa::SetConfig{.reg = reg, .value = value});
}

void InstructionStream::tag(std::uint16_t tag) {
    if (tag_ == tag) return;
    tag_ = tag;
    append(isa::DebugTag{.tag = tag});
}

}  // namespace systole::emit

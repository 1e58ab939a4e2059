#pragma once

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/instruction.h"
#include "sim/view/trace/text_buffer.h"

namespace systole::trace {

/// Appends the instruction's fields as members of a JSON object, each led by a comma: `,"length":64`. Fields
/// that assembly may leave out are left out; a flag that is set is true.
void append_fields(const isa::Instruction& instruction, const isa::HostLabels& labels, TextBuffer& text);

}  // namespace systole::trace

#pragma once

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program.h"
#include "sim/view/trace/instruction_lines.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/text_buffer.h"

namespace systole::trace {

/// Instructions as text for people: columns of times, then the instruction, then the reasons for its waiting.
class TextLines final : public LineWriter {
public:
    /// Both must outlive the object.
    TextLines(OutputFile& file, const isa::Program& program);

    void line(const InstructionLine& line, const isa::Instruction& instruction) override;
    void finish() override { text_.flush(); }

private:
    const isa::Program& program_;
    const isa::HostLabels labels_;
    TextBuffer text_;
};

}  // namespace systole::trace

#pragma once

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program.h"
#include "sim/view/trace/instruction_lines.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/text_buffer.h"

namespace systole::trace {

/// Instructions as comma-separated values (RFC 4180, lines end as elsewhere on Unix): a line of titles, then
/// one for each. Columns of the matrix unit are empty for others.
class CsvLines final : public LineWriter {
public:
    /// Both must outlive the object. `has_cores`: several, for which there is a column.
    CsvLines(OutputFile& file, const isa::Program& program, bool has_cores = false);

    void line(const InstructionLine& line, const isa::Instruction& instruction) override;
    void finish() override { text_.flush(); }

private:
    void field(std::string_view text);

    const isa::Program& program_;
    const bool has_cores_;
    const isa::HostLabels labels_;
    TextBuffer text_;
};

/// Instructions as text for people: columns of times, then the instruction, then the reasons for its waiting.
class TextLines final : public LineWriter {
public:
    /// Both must outlive the object. `has_cores`: several, for which there is a column.
    TextLines(OutputFile& file, const isa::Program& program, bool has_cores = false);

    void line(const InstructionLine& line, const isa::Instruction& instruction) override;
    void finish() override { text_.flush(); }

private:
    const isa::Program& program_;
    const bool has_cores_;
    const isa::HostLabels labels_;
    TextBuffer text_;
};

}  // namespace systole::trace

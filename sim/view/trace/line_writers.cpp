#include "sim/view/trace/csv_lines.h"

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program.h"

namespace systole::trace {

CsvLines::CsvLines(OutputFile& file, const isa::Program& program)
    : program_(program), labels_(program.buffers), text_(file) {
    text_ << "number,repetition,layer,unit,instruction,issued,begun,released,complete,waited,active,"
             "weight_stall,weight_shift,non_matrix,raw_stall,input_stall,setup_stall,port_stall\n";
}

void CsvLines::line(const InstructionLine& line, const isa::Instruction& instruction) {
    text_ << line.number << ',' << line.repetition << ',';
    field(isa::layer_name(program_, line.tag));
    text_ << ',' << line.unit << ',';
    field(isa::instruction_text(instruction, labels_));
    text_ << ',' << line.issued << ',' << line.begun << ',' << line.released << ',' << line.complete << ','
          << line.waited;
    matrix(line);
    text_ << '\n';
    text_.end_line();
}

void CsvLines::matrix(const InstructionLine& line) {
    if (!line.matrix) {
        text_ << ",,,,,,,,";
        return;
    }
    const MatrixCycles& cycles = *line.matrix;
    text_ << ',' << cycles.active << ',' << cycles.weight_stall << ',' << cycles.weight_shift << ','
          << cycles.non_matrix << ',' << cycles.raw_stall << ',' << cycles.input_stall << ','
          << cycles.setup_stall << ',' << cycles.port_stall;
}

void CsvLines::field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        text_ << text;
        return;
    }
    text_ << '"';
    for (const char letter : text) {
        if (letter == '"') text_ << '"';
        text_ << letter;
    }
    text_ << '"';
}

}  // namespace systole::trace

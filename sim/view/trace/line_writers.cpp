#include "sim/view/trace/line_writers.h"

#include <fmt/format.h>

#include <string>

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program.h"
#include "sim/view/table/table.h"

namespace systole::trace {

CsvLines::CsvLines(OutputFile& file, const isa::Program& program, bool has_cores)
    : program_(program), has_cores_(has_cores), labels_(program.buffers), text_(file) {
    text_ << "number,repetition,layer," << (has_cores ? "core," : "")
          << "unit,instruction,issued,begun,released,complete,waited";
    for (const auto& [name, cycles] : matrix_columns) text_ << ',' << name;
    text_ << '\n';
}

void CsvLines::line(const InstructionLine& line, const isa::Instruction& instruction) {
    text_ << line.number << ',' << line.repetition << ',';
    field(isa::layer_name(program_, line.tag));
    if (has_cores_) text_ << ',' << line.core;
    text_ << ',' << line.unit << ',';
    field(isa::instruction_text(instruction, labels_));
    text_ << ',' << line.issued << ',' << line.begun << ',' << line.released << ',' << line.complete << ','
          << line.waited;
    for (const auto& [name, cycles] : matrix_columns) {
        text_ << ',';
        if (line.matrix) text_ << (*line.matrix).*cycles;
    }
    text_ << '\n';
    text_.end_line();
}

void CsvLines::field(std::string_view text) {
    text_ << tables::csv_field(text);
}

namespace {

constexpr std::string_view columns = "{:>8}  {:<10}{}  {:>12} {:>12} {:>12} {:>12} {:>10}  {:<20}  {}{}\n";

/// The column of cores, if there are several.
std::string core_column(bool has_cores, std::string_view core) {
    return has_cores ? fmt::format("  {:<12}", core) : std::string();
}

/// "  (active 200, weight_stall 888, weight_shift 256)", without the counts that are 0.
std::string reasons(const InstructionLine& line) {
    if (!line.matrix) return {};
    std::string text;
    for (const auto& [name, cycles] : matrix_columns) {
        const Cycle count = (*line.matrix).*cycles;
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
    }
    return text.empty() ? text : "  (" + text + ")";
}

/// The name with its control characters escaped, so that it cannot break the line.
std::string on_one_line(const std::string& name) {
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char delete_character = 0x7f;
    std::string line;
    for (const char letter : name) {
        const auto code = static_cast<unsigned char>(letter);
        const bool is_control = code < first_printable || code == delete_character;
        line += is_control ? fmt::format("\\x{:02x}", code) : std::string(1, letter);
    }
    return line;
}

}  // namespace

TextLines::TextLines(OutputFile& file, const isa::Program& program, bool has_cores)
    : program_(program), has_cores_(has_cores), labels_(program.buffers), text_(file) {
    text_ << fmt::format(columns, "number", "unit", core_column(has_cores, "core"), "issued", "begun",
                         "released", "complete", "waited", "layer", "instruction", "");
}

void TextLines::line(const InstructionLine& line, const isa::Instruction& instruction) {
    const std::string what = line.repetition == 0 ? isa::instruction_text(instruction, labels_)
                                                  : fmt::format("  repetition {}", line.repetition);
    text_ << fmt::format(columns, line.number, line.unit, core_column(has_cores_, line.core), line.issued,
                         line.begun, line.released, line.complete, line.waited,
                         on_one_line(isa::layer_name(program_, line.tag)), what, reasons(line));
    text_.end_line();
}

}  // namespace systole::trace

// When each instruction was where, in the order of the program.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "hw/isa/assembly.h"
#include "hw/isa/footprint.h"
#include "sim/report/numbers.h"
#include "sim/report/report.h"
#include "sim/terminal/layout.h"

namespace systole::report {
namespace {

std::string_view unit_name(const isa::Instruction& instruction) {
    if (const auto* wait = std::get_if<isa::SyncWait>(&instruction)) return isa::name(wait->unit);
    if (const auto* signal = std::get_if<isa::SyncSignal>(&instruction)) return isa::name(signal->unit);
    const auto unit = isa::unit_of(instruction);
    return unit ? isa::name(*unit) : "sequencer";
}

std::string shown(std::optional<std::uint64_t> cycle) {
    return cycle ? grouped(*cycle) : "-";
}

/// The cells of a line, but for its text.
std::array<std::string, 6> cells(const InstructionLine& line) {
    return {line.repetition == 0 ? fmt::to_string(line.number) : "",
            std::string(line.unit),
            shown(line.issued),
            shown(line.begun),
            shown(line.released),
            shown(line.complete)};
}

}  // namespace

std::vector<InstructionLine> make_instruction_lines(const isa::Program& program,
                                                    std::span<const hw::InstructionTimes> times,
                                                    std::uint64_t end) {
    // By number; the repetitions of an instruction are in order already.
    std::vector<const hw::InstructionTimes*> sorted;
    sorted.reserve(times.size());
    for (const hw::InstructionTimes& each : times) sorted.push_back(&each);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->number < b->number; });

    const std::vector<std::string> texts = isa::instruction_texts(program);
    std::vector<InstructionLine> lines;
    auto next = sorted.begin();
    for (std::size_t number = 0; number < program.instructions.size(); ++number) {
        const isa::Instruction& instruction = program.instructions[number];
        InstructionLine line;
        line.number = number;
        line.unit = unit_name(instruction);
        line.text = texts[number];
        if (std::holds_alternative<isa::Halt>(instruction)) line.complete = end;
        if (next == sorted.end() || (*next)->number != number) {
            lines.push_back(std::move(line));
        } else {
            for (; next != sorted.end() && (*next)->number == number; ++next) {
                line.issued = (*next)->issued;
                line.begun = (*next)->begun;
                line.released = (*next)->released;
                line.complete = (*next)->complete;
                lines.push_back(line);
                ++line.repetition;
            }
        }
        // Nothing behind it is run.
        if (std::holds_alternative<isa::Halt>(instruction)) break;
    }
    return lines;
}

std::string instruction_table(std::span<const InstructionLine> lines, const terminal::Look& look) {
    constexpr std::array<std::string_view, 6> titles{"#", "unit", "issued", "begun", "released", "complete"};
    constexpr std::size_t unit = 1;  // the one column of words
    std::array<std::size_t, titles.size()> widths{};
    for (std::size_t i = 0; i < titles.size(); ++i) widths[i] = titles[i].size();
    for (const InstructionLine& line : lines) {
        const auto row = cells(line);
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    const auto print = [&](const auto& row, std::string_view text) {
        std::string printed;
        for (std::size_t i = 0; i < titles.size(); ++i) {
            printed += i == unit ? fmt::format("  {:<{}}", row[i], widths[i])
                                 : fmt::format("{}{:>{}}", i == 0 ? "" : " ", row[i], widths[i]);
        }
        printed += "  ";
        return look.columns ? terminal::beside(printed, text, *look.columns) : printed + std::string(text);
    };
    std::string table = look.paint(terminal::Role::Heading, print(titles, "instruction")) + '\n';
    for (const InstructionLine& line : lines) {
        table += print(cells(line),
                       line.repetition == 0 ? line.text : fmt::format("  repetition {}", line.repetition)) +
                 '\n';
    }
    return table;
}

}  // namespace systole::report

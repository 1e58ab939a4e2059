// A table of the times of each instruction, in the order of the program.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/view/report/numbers.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

std::string shown(std::optional<std::uint64_t> cycle) {
    return cycle ? grouped(*cycle) : "-";
}

/// The cells of a line, except its text.
std::array<std::string, 6> cells(const run::InstructionLine& line) {
    return {line.repetition == 0 ? fmt::to_string(line.number) : "",
            line.unit,
            shown(line.issued),
            shown(line.begun),
            shown(line.released),
            shown(line.complete)};
}

}  // namespace

std::string instruction_table(std::span<const run::InstructionLine> lines, const terminal::Look& look) {
    constexpr std::array<std::string_view, 6> titles{"#", "unit", "issued", "begun", "released", "complete"};
    constexpr std::size_t unit = 1;  // the only column with words
    std::array<std::size_t, titles.size()> widths{};
    for (std::size_t i = 0; i < titles.size(); ++i) widths[i] = titles[i].size();
    for (const run::InstructionLine& line : lines) {
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
    for (const run::InstructionLine& line : lines) {
        table += print(cells(line),
                       line.repetition == 0 ? line.text : fmt::format("  repetition {}", line.repetition)) +
                 '\n';
    }
    return table;
}

}  // namespace systole::report

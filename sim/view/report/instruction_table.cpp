// A table of the times of each instruction, in the order of the program.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/view/report/numbers.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

/// An instruction in cores in which it has the same times.
struct Row {
    const run::InstructionLine* line = nullptr;
    std::vector<std::uint32_t> cores = {};  ///< none of a machine with one
};

/// Lines of one instruction follow each other, in the order of the cores.
std::vector<Row> rows_of(const run::RunRecord& record) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < record.instruction_times.size(); ++i) {
        const std::size_t first = rows.size();
        rows.push_back({&record.instruction_times[i]});
        for (const run::CoresAlike& group : record.cores_alike) {
            const bool is_first = &group == &record.cores_alike.front();
            const run::InstructionLine& line =
                is_first ? record.instruction_times[i] : group.instruction_times.at(i);
            auto alike = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                      [&](const Row& row) { return *row.line == line; });
            if (alike == rows.end()) alike = rows.insert(rows.end(), {&line});
            alike->cores.insert(alike->cores.end(), group.cores.begin(), group.cores.end());
        }
    }
    return rows;
}

std::string shown(std::optional<std::uint64_t> cycle) {
    return cycle ? grouped(*cycle) : "-";
}

/// "all", or "chip0.core1 and 3 more".
std::string cores_text(const Row& row, const machine::MachineConfig& machine) {
    if (row.cores.size() == machine.cores()) return "all";
    const std::string first = machine.core_name(std::ranges::min(row.cores));
    return row.cores.size() == 1 ? first : fmt::format("{} and {} more", first, row.cores.size() - 1);
}

}  // namespace

std::string instruction_table(const run::RunRecord& record, const terminal::Look& look) {
    const bool has_cores = !record.cores_alike.empty();
    std::vector<std::string> titles{"#", "unit", "issued", "begun", "released", "complete"};
    if (has_cores) titles.insert(titles.begin() + 2, "core");
    const std::size_t last_with_words = has_cores ? 2 : 1;
    const auto cells = [&](const Row& row) {
        const run::InstructionLine& line = *row.line;
        std::vector<std::string> texts{line.repetition == 0 ? fmt::to_string(line.number) : "",
                                       line.unit,
                                       shown(line.issued),
                                       shown(line.begun),
                                       shown(line.released),
                                       shown(line.complete)};
        if (has_cores) texts.insert(texts.begin() + 2, cores_text(row, record.spec.machine));
        return texts;
    };
    const std::vector<Row> rows = rows_of(record);
    std::vector<std::size_t> widths;
    for (const std::string& title : titles) widths.push_back(title.size());
    for (const Row& row : rows) {
        const std::vector<std::string> texts = cells(row);
        for (std::size_t i = 0; i < texts.size(); ++i) widths[i] = std::max(widths[i], texts[i].size());
    }
    const auto print = [&](const std::vector<std::string>& row, std::string_view text) {
        std::string printed;
        for (std::size_t i = 0; i < titles.size(); ++i) {
            const bool has_words = i > 0 && i <= last_with_words;
            printed += has_words ? fmt::format("  {:<{}}", row[i], widths[i])
                                 : fmt::format("{}{:>{}}", i == 0 ? "" : " ", row[i], widths[i]);
        }
        printed += "  ";
        return look.columns ? terminal::beside(printed, text, *look.columns) : printed + std::string(text);
    };
    std::string table = look.paint(terminal::Role::Heading, print(titles, "instruction")) + '\n';
    for (const Row& row : rows) {
        const run::InstructionLine& line = *row.line;
        table += print(cells(row),
                       line.repetition == 0 ? line.text : fmt::format("  repetition {}", line.repetition)) +
                 '\n';
    }
    return table;
}

}  // namespace systole::report

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
    const Json* line = nullptr;
    std::vector<std::string> cores = {};  ///< in the order of the machine; none of a machine with one
};

/// Lines of one instruction follow each other, in the order of the cores.
std::vector<Row> rows_of(const Json& lines, const Json& cores_alike) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::size_t first = rows.size();
        rows.push_back({&lines[i]});
        for (const Json& group : cores_alike) {
            const auto own = group.find("instruction_times");  // the first group has those of the report
            const Json& line = own == group.end() ? lines[i] : own->at(i);
            auto alike = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                      [&](const Row& row) { return *row.line == line; });
            if (alike == rows.end()) alike = rows.insert(rows.end(), {&line});
            for (const Json& name : group["names"]) alike->cores.push_back(name.get<std::string>());
        }
    }
    return rows;
}

std::string shown(const Json& cycle) {
    return cycle.is_null() ? "-" : grouped(cycle.get<std::uint64_t>());
}

/// "all", or "chip0.core1 and 3 more".
std::string cores_text(const Row& row, std::size_t all) {
    if (row.cores.size() == all) return "all";
    return row.cores.size() == 1 ? row.cores.front()
                                 : fmt::format("{} and {} more", row.cores.front(), row.cores.size() - 1);
}

}  // namespace

std::string instruction_table(const Json& report, const terminal::Look& look) {
    const Json cores_alike = report.value("cores_alike", Json::array());
    const bool has_cores = !cores_alike.empty();
    std::size_t all_cores = 0;
    for (const Json& group : cores_alike) all_cores += group["names"].size();
    std::vector<std::string> titles{"#", "unit", "issued", "begun", "released", "complete"};
    if (has_cores) titles.insert(titles.begin() + 2, "core");
    const std::size_t last_with_words = has_cores ? 2 : 1;
    const auto cells = [&](const Row& row) {
        const Json& line = *row.line;
        std::vector<std::string> texts{
            line["repetition"] == 0 ? fmt::to_string(line["number"].get<std::uint64_t>()) : "",
            line["unit"].get<std::string>(),
            shown(line["issued"]),
            shown(line["begun"]),
            shown(line["released"]),
            shown(line["complete"])};
        if (has_cores) texts.insert(texts.begin() + 2, cores_text(row, all_cores));
        return texts;
    };
    const std::vector<Row> rows = rows_of(report["instruction_times"], cores_alike);
    std::vector<std::size_t> widths;
    widths.reserve(titles.size());
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
        const Json& line = *row.line;
        const std::uint64_t repetition = line["repetition"];
        table += print(cells(row), repetition == 0 ? line["text"].get<std::string>()
                                                   : fmt::format("  repetition {}", repetition)) +
                 '\n';
    }
    return table;
}

}  // namespace systole::report

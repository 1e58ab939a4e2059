#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace systole::tests {

/// Comma-separated values with a line of titles. Quotes may hold commas and quotes, not line ends.
struct Csv {
    std::vector<std::map<std::string, std::string>> lines;

    /// The numbers of a column; an empty cell is 0.
    std::uint64_t sum(const std::string& column) const {
        std::uint64_t sum = 0;
        for (const auto& line : lines) {
            if (const std::string& cell = line.at(column); !cell.empty()) sum += std::stoull(cell);
        }
        return sum;
    }
};

inline std::vector<std::string> csv_cells(std::string_view line) {
    std::vector<std::string> cells(1);
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') {
            const bool is_literal = is_quoted && i + 1 < line.size() && line[i + 1] == '"';
            if (is_literal) cells.back() += line[i++];
            if (!is_literal) is_quoted = !is_quoted;
        } else if (line[i] == ',' && !is_quoted) {
            cells.emplace_back();
        } else {
            cells.back() += line[i];
        }
    }
    return cells;
}

inline Csv read_csv(std::string_view text) {
    Csv csv;
    std::vector<std::string> titles;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::vector<std::string> cells = csv_cells(text.substr(0, end));
        text.remove_prefix(end + 1);
        if (titles.empty()) {
            titles = cells;
            continue;
        }
        auto& line = csv.lines.emplace_back();
        for (std::size_t i = 0; i < titles.size(); ++i) line[titles[i]] = cells.at(i);
    }
    return csv;
}

}  // namespace systole::tests

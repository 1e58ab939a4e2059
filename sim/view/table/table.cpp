#include "sim/view/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/significant_digits.h"
#include "sim/view/terminal/layout.h"

namespace systole::tables {
namespace {

/// The texts of the table: titles, then each row; the first column holds the labels.
std::vector<std::vector<std::string>> texts_of(const Table& table) {
    std::vector<std::vector<std::string>> lines{table.columns};
    for (const Row& row : table.rows) {
        std::vector<std::string>& line = lines.emplace_back(std::vector{row.label});
        for (const Cell& cell : row.cells) line.push_back(cell.text());
    }
    return lines;
}

/// Columns of words are aligned at the left, columns of numbers at the right.
bool is_left_aligned(const Table& table, std::size_t column) {
    return column == 0 || std::ranges::any_of(table.rows, [&](const Row& row) {
               return column <= row.cells.size() && row.cells[column - 1].is_words() &&
                      row.cells[column - 1].text().size() > 3;
           });
}

/// The columns beside the labels in parts that fit the room: the first column of each part, then the end.
std::vector<std::size_t> parts_of(const std::vector<std::size_t>& widest, std::size_t room) {
    std::vector<std::size_t> parts{1};
    std::size_t used = 2 + widest[0];
    for (std::size_t i = 1; i < widest.size(); ++i) {
        const std::size_t more = 2 + widest[i];
        if (used + more > room && i > parts.back()) {
            parts.push_back(i);
            used = 2 + widest[0];
        }
        used += more;
    }
    parts.push_back(widest.size());
    return parts;
}

/// Cut if it is too long. In a cell, what is not printable becomes "?", line ends too.
std::string shortened(const std::string& text, std::size_t width) {
    return terminal::fitted(text, width);
}

/// The names of rows, told apart where they are cut.
void shorten_labels(std::vector<std::vector<std::string>>& lines, std::size_t width) {
    std::vector<std::string> names;
    names.reserve(lines.size());
    for (const auto& line : lines) names.push_back(line.front());
    const std::vector<std::string> shown = terminal::told_apart(names, width);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i].front() = shown[i];
}

}  // namespace

double rounded(double value, int digits) {
    const double power = std::pow(10.0, digits);
    const double nearest = std::round(value * power) / power;
    return nearest == 0.0 ? 0.0 : nearest;  // no negative zero
}

Cell Cell::rough(double value) {
    const Significant shown = significant(value, 2);
    return number(shown.value, shown.decimals);
}

std::string Cell::text() const {
    if (!words_.empty()) return words_;
    if (!value_) return "-";
    const double value = rounded(*value_, digits_);
    return signed_ ? fmt::format("{:+.{}f}", value, digits_) : fmt::format("{:.{}f}", value, digits_);
}

nlohmann::ordered_json Cell::json() const {
    if (!words_.empty()) return words_;
    if (!value_) return nullptr;
    return rounded(*value_, digits_);
}

std::string to_text(const Table& table, const terminal::Look& look) {
    const std::size_t columns = look.width();
    std::vector<std::vector<std::string>> lines = texts_of(table);
    std::vector<std::size_t> widest(table.columns.size());
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) widest.at(i) = std::max(widest.at(i), line[i].size());
    }
    // The tables fit the fixed layout; a terminal may have any width.
    const std::size_t room = look.columns ? columns : std::string::npos;
    if (look.columns) {
        widest[0] = std::min(widest[0], columns / 2);
        for (std::size_t& width : widest) width = std::min(width, columns - widest[0] - 4);
    }
    shorten_labels(lines, widest[0]);
    const auto padded = [&](const std::string& text, std::size_t column) {
        const std::size_t width = widest[column];
        return is_left_aligned(table, column) ? fmt::format("  {:<{}}", shortened(text, width), width)
                                              : fmt::format("  {:>{}}", shortened(text, width), width);
    };
    std::string text = look.paint(terminal::Role::Heading, terminal::wrapped(table.title, columns)) + '\n';
    const std::vector<std::size_t> parts = parts_of(widest, room);
    for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
        text += '\n';
        for (std::size_t row = 0; row < lines.size(); ++row) {
            std::string line = padded(lines[row][0], 0);
            const std::size_t end = std::min(parts[part + 1], lines[row].size());
            for (std::size_t i = parts[part]; i < end; ++i) line += padded(lines[row][i], i);
            line.erase(line.find_last_not_of(' ') + 1);
            const bool failed = row > 0 && std::ranges::any_of(table.rows[row - 1].cells, &Cell::failed);
            text += (failed ? look.paint(terminal::Role::Wrong, line) : line) + '\n';
        }
    }
    for (const std::string& note : table.notes) text += '\n' + terminal::wrapped(note, columns) + '\n';
    return text;
}

std::string to_markdown(const Table& table) {
    const std::vector<std::vector<std::string>> lines = texts_of(table);
    std::string text = fmt::format("| {} |\n|", fmt::join(lines[0], " | "));
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += is_left_aligned(table, i) ? "---|" : "--:|";
    text += '\n';
    for (std::size_t row = 1; row < lines.size(); ++row) {
        text += fmt::format("| {} |", fmt::join(lines[row], " | "));
        for (std::size_t i = lines[row].size(); i < table.columns.size(); ++i) text += " |";
        text += '\n';
    }
    for (const std::string& note : table.notes) text += '\n' + terminal::wrapped(note, 100) + '\n';
    return text;
}

nlohmann::ordered_json to_json(const Table& table) {
    nlohmann::ordered_json json;
    json["title"] = table.title;
    json["columns"] = table.columns;
    json["rows"] = nlohmann::ordered_json::array();
    for (const Row& row : table.rows) {
        nlohmann::ordered_json line = nlohmann::ordered_json::array({row.label});
        for (const Cell& cell : row.cells) line.push_back(cell.json());
        json["rows"].push_back(std::move(line));
    }
    if (!table.notes.empty()) json["notes"] = table.notes;
    return json;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"') quoted += '"';
        quoted += letter;
    }
    return quoted + '"';
}

}  // namespace systole::tables

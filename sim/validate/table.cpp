#include "sim/validate/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace systole::validate {
namespace {

constexpr std::size_t terminal_width = 80;

double rounded(double value, int digits) {
    const double power = std::pow(10.0, digits);
    const double nearest = std::round(value * power) / power;
    return nearest == 0.0 ? 0.0 : nearest;  // no negative zero
}

/// What a column takes: its widest entry.
std::vector<std::size_t> widths(const Table& table) {
    std::vector<std::size_t> widest;
    for (const std::string& title : table.columns) widest.push_back(title.size());
    for (const Row& row : table.rows) {
        widest[0] = std::max(widest[0], row.label.size());
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            widest.at(i + 1) = std::max(widest.at(i + 1), row.cells[i].text().size());
        }
    }
    return widest;
}

/// Columns of words begin at the left, those of numbers end at the right.
bool has_words(const Table& table, std::size_t column) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
        return column < row.cells.size() && row.cells[column].is_words() &&
               row.cells[column].text().size() > 3;
    });
}

}  // namespace

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

std::string wrapped(const std::string& text, std::size_t width) {
    std::istringstream words(text);
    std::string result;
    std::size_t column = 0;
    for (std::string word; words >> word;) {
        if (column > 0 && column + 1 + word.size() > width) {
            result += '\n';
            column = 0;
        }
        if (column > 0) {
            result += ' ';
            ++column;
        }
        result += word;
        column += word.size();
    }
    return result;
}

std::string to_text(const Table& table) {
    const std::vector<std::size_t> widest = widths(table);
    std::string text = wrapped(table.title, terminal_width) + "\n\n";
    const auto line = [&](const std::string& label, const auto& cell_text, std::size_t cells) {
        std::string result = fmt::format("  {:<{}}", label, widest[0]);
        for (std::size_t i = 0; i < cells; ++i) {
            const std::string cell = cell_text(i);
            result += has_words(table, i) ? fmt::format("  {:<{}}", cell, widest[i + 1])
                                          : fmt::format("  {:>{}}", cell, widest[i + 1]);
        }
        result.erase(result.find_last_not_of(' ') + 1);
        text += result + '\n';
    };
    line(
        table.columns[0], [&](std::size_t i) { return table.columns[i + 1]; }, table.columns.size() - 1);
    for (const Row& row : table.rows) {
        line(
            row.label, [&](std::size_t i) { return row.cells[i].text(); }, row.cells.size());
    }
    for (const std::string& note : table.notes) text += '\n' + wrapped(note, terminal_width) + '\n';
    return text;
}

std::string to_markdown(const Table& table) {
    std::string text = fmt::format("| {} |\n|", fmt::join(table.columns, " | "));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        text += i == 0 || has_words(table, i - 1) ? "---|" : "--:|";
    }
    text += '\n';
    for (const Row& row : table.rows) {
        text += "| " + row.label + " |";
        for (const Cell& cell : row.cells) text += ' ' + cell.text() + " |";
        for (std::size_t i = row.cells.size() + 1; i < table.columns.size(); ++i) text += " |";
        text += '\n';
    }
    for (const std::string& note : table.notes) text += '\n' + wrapped(note, 100) + '\n';
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

}  // namespace systole::validate

#include "sim/study/validate/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/view/terminal/layout.h"

namespace systole::validate {
namespace {

double rounded(double value, int digits) {
    const double power = std::pow(10.0, digits);
    const double nearest = std::round(value * power) / power;
    return nearest == 0.0 ? 0.0 : nearest;  // no negative zero
}

/// The widest entry of each column.
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

/// Columns of words are aligned at the left, columns of numbers at the right.
bool has_words(const Table& table, std::size_t column) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
        return column < row.cells.size() && row.cells[column].is_words() &&
               row.cells[column].text().size() > 3;
    });
}

std::vector<std::string> texts_of(const Row& row) {
    std::vector<std::string> texts;
    for (const Cell& cell : row.cells) texts.push_back(cell.text());
    return texts;
}

/// Columns that are printed side by side: [first, end).
struct Part {
    std::size_t first = 0;
    std::size_t end = 0;
};

/// Parts with as many columns beside the label as fit.
std::vector<Part> parts_of(const std::vector<std::size_t>& widest, std::size_t room) {
    std::vector<Part> parts{{}};
    std::size_t used = 2 + widest[0];
    for (std::size_t i = 1; i < widest.size(); ++i) {
        const std::size_t more = 2 + widest[i];
        if (used + more > room && parts.back().end > parts.back().first) {
            parts.push_back({i - 1, i - 1});
            used = 2 + widest[0];
        }
        used += more;
        parts.back().end = i;
    }
    return parts;
}

/// Cut if it is too long. A text that fits is not changed, even if it is not ASCII.
std::string shortened(const std::string& text, std::size_t width) {
    return text.size() <= width ? text : terminal::fitted(text, width);
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

std::string to_text(const Table& table, const terminal::Look& look) {
    const std::size_t columns = look.width();
    std::vector<std::size_t> widest = widths(table);
    // The tables fit the fixed layout; a terminal may have any width.
    const std::size_t room = look.columns ? columns : std::string::npos;
    if (look.columns) {
        widest[0] = std::min(widest[0], columns / 2);
        for (std::size_t& width : widest) width = std::min(width, columns - widest[0] - 4);
    }
    std::string text = look.paint(terminal::Role::Heading, terminal::wrapped(table.title, columns)) + '\n';
    for (const Part& part : parts_of(widest, room)) {
        const auto line = [&](const std::string& label, const std::vector<std::string>& cells) {
            std::string result = fmt::format("  {:<{}}", shortened(label, widest[0]), widest[0]);
            for (std::size_t i = part.first; i < std::min(part.end, cells.size()); ++i) {
                result += has_words(table, i)
                              ? fmt::format("  {:<{}}", shortened(cells[i], widest[i + 1]), widest[i + 1])
                              : fmt::format("  {:>{}}", cells[i], widest[i + 1]);
            }
            result.erase(result.find_last_not_of(' ') + 1);
            return result;
        };
        text += '\n' + line(table.columns[0], {table.columns.begin() + 1, table.columns.end()}) + '\n';
        for (const Row& row : table.rows) {
            const std::string shown = line(row.label, texts_of(row));
            const bool failed = std::any_of(row.cells.begin(), row.cells.end(), std::mem_fn(&Cell::failed));
            text += (failed ? look.paint(terminal::Role::Wrong, shown) : shown) + '\n';
        }
    }
    for (const std::string& note : table.notes) text += '\n' + terminal::wrapped(note, columns) + '\n';
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

}  // namespace systole::validate

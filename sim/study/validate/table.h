#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/view/terminal/look.h"

/// A table as data: printed on a terminal, in a page, and as JSON.
namespace systole::validate {

/// A number with the digits it is shown with, a text, or nothing.
class Cell {
public:
    Cell() = default;
    static Cell number(double value, int digits) { return {value, digits, {}}; }
    /// Of a fraction: shown in per cent, with its sign where it is a difference.
    static Cell percent(double fraction, int digits = 1) { return {100.0 * fraction, digits, {}}; }
    static Cell difference(double value, int digits) {
        Cell cell(value, digits, {});
        cell.signed_ = true;
        return cell;
    }
    static Cell words(std::string text) { return {{}, 0, std::move(text)}; }
    static Cell yes(bool is) { return words(is ? "yes" : "no"); }
    /// Whether a demand is met: no is bad news.
    static Cell met(bool is) {
        Cell cell = yes(is);
        cell.failed_ = !is;
        return cell;
    }
    /// A number where there is one.
    static Cell number(const std::optional<double>& value, int digits) {
        return value ? number(*value, digits) : Cell();
    }

    /// "-" for nothing. The same on every computer: what rounds to 0 has no sign.
    std::string text() const;
    /// Rounded as it is shown.
    nlohmann::ordered_json json() const;
    bool is_words() const { return !words_.empty(); }
    bool failed() const { return failed_; }

private:
    Cell(std::optional<double> value, int digits, std::string words)
        : value_(value), digits_(digits), words_(std::move(words)) {}

    std::optional<double> value_;
    int digits_ = 0;
    bool signed_ = false;
    bool failed_ = false;
    std::string words_;
};

struct Row {
    std::string label;
    std::vector<Cell> cells;
};

struct Table {
    std::string id;  ///< "table_3": key in JSON and placeholder in the page
    std::string title;
    std::vector<std::string> columns;  ///< of the label, then of each cell
    std::vector<Row> rows = {};
    std::vector<std::string> notes = {};  ///< sentences below it
};

/// For people. Columns that a terminal has no room for follow below, the labels again at the left.
std::string to_text(const Table& table, const terminal::Look& look = {});
/// GitHub's Markdown, without the title.
std::string to_markdown(const Table& table);
nlohmann::ordered_json to_json(const Table& table);

}  // namespace systole::validate

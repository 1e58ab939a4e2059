#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/view/terminal/look.h"

/// A table as data: printed on a terminal, in a page, and as JSON.
namespace systole::tables {

/// Rounded to so many digits behind the point; never a negative zero.
double rounded(double value, int digits);

/// A number with the digits that are shown, a text, or nothing ("-").
class Cell {
public:
    Cell() = default;
    static Cell number(std::optional<double> value, int digits) { return {value, digits, {}}; }
    /// A number of which two significant digits are shown.
    static Cell rough(double value);
    /// A fraction, shown in per cent.
    static Cell percent(double fraction, int digits = 1) { return {100.0 * fraction, digits, {}}; }
    /// Shown with its sign.
    static Cell difference(double value, int digits) {
        Cell cell(value, digits, {});
        cell.signed_ = true;
        return cell;
    }
    static Cell words(std::string text) { return {{}, 0, std::move(text)}; }
    /// A number that is text already, with its unit: aligned like numbers.
    static Cell figure(std::string text) {
        Cell cell = words(std::move(text));
        cell.figure_ = true;
        return cell;
    }
    static Cell yes(bool is) { return words(is ? "yes" : "no"); }
    /// Whether a demand is met. "no" is bad news.
    static Cell met(bool is) {
        Cell cell = yes(is);
        cell.failed_ = !is;
        return cell;
    }

    /// The same on every computer: a value that rounds to 0 has no sign.
    std::string text() const;
    /// Rounded as it is shown.
    nlohmann::ordered_json json() const;
    bool is_words() const { return !words_.empty() && !figure_; }
    bool failed() const { return failed_; }

private:
    Cell(std::optional<double> value, int digits, std::string words)
        : value_(value), digits_(digits), words_(std::move(words)) {}

    std::optional<double> value_;
    int digits_ = 0;
    bool signed_ = false;
    bool failed_ = false;
    bool figure_ = false;
    std::string words_;
};
using Cells = std::vector<Cell>;

/// A cell for each value.
template <class Values>
Cells numbers(const Values& values, int digits) {
    Cells cells;
    for (const auto& value : values) cells.push_back(Cell::number(value, digits));
    return cells;
}
/// A cell with a sign for each value, times `scale`: 100 shows fractions in per cent.
template <class Values>
Cells differences(const Values& values, int digits, double scale = 1.0) {
    Cells cells;
    for (const double value : values) cells.push_back(Cell::difference(scale * value, digits));
    return cells;
}
inline Cells joined(Cells cells, const Cells& more) {
    cells.insert(cells.end(), more.begin(), more.end());
    return cells;
}

struct Row {
    std::string label;
    Cells cells;
};

struct Table {
    std::string id;  ///< "table_3": key in JSON and placeholder in the page
    std::string title;
    std::vector<std::string> columns;  ///< the label's, then one for each cell
    std::vector<Row> rows = {};
    std::vector<std::string> notes = {};  ///< sentences below the table

    void add(std::string label, Cells cells) { rows.push_back({std::move(label), std::move(cells)}); }
    void add(std::string label, const auto& values, int digits) {
        add(std::move(label), numbers(values, digits));
    }
};

/// For people. Columns that do not fit the terminal follow below, with the labels again at the left.
std::string to_text(const Table& table, const terminal::Look& look = {});
/// GitHub's Markdown, without the title.
std::string to_markdown(const Table& table);
nlohmann::ordered_json to_json(const Table& table);

/// A text as a field of CSV (RFC 4180): in quotes if it has a comma, a quote or a line end.
std::string csv_field(std::string_view text);

}  // namespace systole::tables

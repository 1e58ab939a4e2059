#include "sim/study/validate/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/study/validate/study_rows.h"

namespace systole::validate {

using tables::Cell;
using tables::Cells;
using tables::Table;

namespace {

Cell cell_of(const CellFormulas& formulas, Number number) {
    const int digits = static_cast<int>(formulas.digits);
    if (!number) return {};
    switch (formulas.as) {
        case CellKind::Plain:
            return Cell::number(number, digits);
        case CellKind::Percent:
            return Cell::percent(*number, digits);
        case CellKind::Difference:
            return Cell::difference(*number, digits);
        case CellKind::Rough:
            return Cell::rough(*number);
        case CellKind::Met:
            return Cell::met(*number != 0.0);
    }
    return {};
}

/// A number of an element that is the name of a column stands in that one.
void check_column(const std::string& element, std::size_t column, const Table& table,
                  const std::string& place) {
    const auto named = std::ranges::find(table.columns, element);
    if (named == table.columns.end() || named == table.columns.begin() + static_cast<std::ptrdiff_t>(column))
        return;
    throw machine::ConfigError(
        fmt::format("{}: the number of {} would stand in column {}", place, element, column));
}

void add_cells(const CellFormulas& cell, const std::string& place, Formulas& formulas, const Table& table,
               Cells& to) {
    if (!cell.row.empty()) {
        for (const auto& [element, number] : formulas.row(cell.row, place)) {
            check_column(element, to.size() + 1, table, place);
            to.push_back(cell_of(cell, number));
        }
    } else if (!cell.value.empty()) {
        to.push_back(cell_of(cell, formulas.value(cell.value, place)));
    } else {
        to.push_back(cell.text.empty() ? Cell() : Cell::words(formulas.filled(cell.text, place)));
    }
}

void add_rows(const RowFormulas& row, const std::string& place, Formulas& formulas, Table& to) {
    for (const RowFormulas& inner : row.rows) add_rows(inner, place, formulas, to);
    if (!row.rows.empty()) return;
    Cells cells;
    for (const CellFormulas& cell : row.cells) add_cells(cell, place, formulas, to, cells);
    if (cells.size() >= to.columns.size()) {
        throw machine::ConfigError(
            fmt::format("{}: row \"{}\" has {} cells; there are {} columns behind the label", place,
                        row.label, cells.size(), to.columns.size() - 1));
    }
    to.add(formulas.filled(row.label, place), std::move(cells));
}

}  // namespace

Table table_of(const TableFormulas& table, Formulas& formulas) {
    if (table.columns.empty())
        throw machine::ConfigError(fmt::format("tables.{}: it has no columns", table.id));
    const std::string place = "tables." + table.id;
    Table filled{.id = table.id, .title = formulas.filled(table.title, place), .columns = table.columns};
    for (const RowFormulas& row : table.rows) add_rows(row, place, formulas, filled);
    for (const Note& note : table.notes) {
        const Number holds = note.unless.empty() ? Number(0.0) : formulas.value(note.unless, place);
        if (holds && *holds != 0.0) continue;
        filled.notes.push_back(formulas.filled(note.text, place));
    }
    return filled;
}

namespace {

/// A note with the computers of what was measured.
void add_hosts(const TableFormulas& formulas, const Published& published, Table& to) {
    std::vector<std::string> hosts;
    for (const std::string& section : formulas.hosts) {
        const auto found = published.hosts.find(section);
        if (found == published.hosts.end()) {
            throw machine::ConfigError(fmt::format("tables.{}.hosts: {} is no section with a host of {}",
                                                   formulas.id, section, published.name));
        }
        if (std::ranges::count(hosts, found->second) == 0) hosts.push_back(found->second);
    }
    if (!hosts.empty()) to.notes.push_back(fmt::format("Measured with {}.", fmt::join(hosts, "; ")));
}

}  // namespace

std::vector<Table> all_tables(Results& results) {
    std::vector<Table> all;
    for (const TableFormulas& formulas : results.setup.target.tables) {
        if (formulas.rows_of == "choices") continue;
        Table& table = all.emplace_back(table_of(formulas, results.formulas));
        add_hosts(formulas, results.setup.published, table);
        if (!formulas.rows_of.empty()) add_study_rows(formulas.rows_of, results, table);
    }
    return all;
}

}  // namespace systole::validate

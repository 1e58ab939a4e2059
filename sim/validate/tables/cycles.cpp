#include <fmt/format.h>

#include <cmath>

#include "sim/validate/rows.h"
#include "sim/validate/tables/tables.h"

namespace systole::validate {

Table cycles_table(const Results& results) {
    const Published& published = results.published;
    const PerWorkloadAndMean& useful = published.table_3.rows[1];
    Table table{.id = "total_cycles",
                .title = "Total cycles: error of the simulator, and of the authors' own model (Table 7), %",
                .columns = workload_columns(""),
                .rows = {},
                .notes = {}};
    table.columns.emplace_back("mean abs");
    const auto error = [&](std::size_t i) { return cycles_error(useful[i], results.base[i]); };
    double sum = 0.0;
    double authors = 0.0;
    for (std::size_t i = 0; i < workload_count; ++i) {
        sum += std::abs(error(i));
        authors += published.table_7.model_error_percent[i];
    }
    table.rows.push_back(
        workload_row("row 2, published", [&](std::size_t i) { return Cell::number(useful[i], 1); }));
    table.rows.push_back(workload_row(
        "row 2, ours", [&](std::size_t i) { return Cell::percent(results.base[i].useful_share()); }));
    Row ours = workload_row("error of our cycles",
                            [&](std::size_t i) { return Cell::difference(100.0 * error(i), 1); });
    ours.cells.push_back(Cell::percent(sum / workload_count));
    Row theirs = workload_row("error of theirs", [&](std::size_t i) {
        return Cell::number(published.table_7.model_error_percent[i], 1);
    });
    theirs.cells.push_back(Cell::number(authors / workload_count, 1));
    table.rows.push_back(std::move(ours));
    table.rows.push_back(std::move(theirs));
    table.notes.emplace_back(
        "For the same multiply-accumulates, cycles go as one over row 2 of Table 3: the error is published "
        "row "
        "2 over ours, less one; positive where our chip takes longer. The authors do not publish signs.");
    return table;
}

}  // namespace systole::validate

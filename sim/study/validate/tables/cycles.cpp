#include "sim/study/validate/counters.h"
#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table cycles_table(const Results& results) {
    const PerWorkloadAndMean& useful = results.published.table_3.rows[1];
    const PerWorkload& authors = results.published.table_7.model_error_percent;
    const CyclesErrors errors = cycles_errors(results);
    double authors_sum = 0.0;
    for (const double error : authors.values) authors_sum += error;
    Table table{.id = "total_cycles",
                .title = "Total cycles: error of the simulator, and of the authors' own model (Table 7), %",
                .columns = workload_columns({"mean abs"})};
    table.rows = {
        workload_row("row 2, published", [&](std::size_t i) { return Cell::number(useful[i], 1); }),
        workload_row("row 2, ours",
                     [&](std::size_t i) { return Cell::percent(results.base[i].useful_share()); }),
        workload_row("error of our cycles",
                     [&](std::size_t i) { return Cell::difference(100.0 * errors.by_workload[i], 1); },
                     {Cell::percent(errors.mean)}),
        workload_row("error of theirs", [&](std::size_t i) { return Cell::number(authors[i], 1); },
                     {Cell::number(authors_sum / workload_count, 1)})};
    table.notes.emplace_back(
        "For the same multiply-accumulates, cycles go as one over row 2 of Table 3: the error is published "
        "row 2 over ours, less one; positive where our chip takes longer. The authors do not publish signs.");
    return table;
}

}  // namespace systole::validate

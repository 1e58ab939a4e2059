#include <array>
#include <string_view>

#include "sim/study/validate/counters.h"
#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

constexpr std::array<std::string_view, 9> titles{"1 array active", "2 - useful MACs", "3 - unused MACs",
                                                 "4 weight stall", "5 weight shift",  "6 non-matrix",
                                                 "7 RAW stalls",   "8 input stalls",  "9 TeraOps/s"};

}  // namespace

Table table_3(const Results& results) {
    Table table{.id = "table_3",
                .title = "Table 3: counters, % of cycles, and 10^12 operations a second",
                .columns = workload_columns({"mean"})};
    for (std::size_t row = 0; row < titles.size(); ++row) {
        const PerWorkloadAndMean& published = results.published.table_3.rows[row];
        const auto ours = [&](std::size_t i) { return counter_row(row, results.base[i]); };
        table.rows.push_back(workload_row(std::string(titles[row]),
                                          [&](std::size_t i) { return Cell::number(published[i], 1); },
                                          {Cell::number(published[workload_count], 1)}));
        table.rows.push_back(workload_row("    ours", [&](std::size_t i) { return Cell::number(ours(i), 1); },
                                          {Cell::number(counter_row_mean(row, results.base), 1)}));
        table.rows.push_back(workload_row(
            "    difference", [&](std::size_t i) { return Cell::difference(ours(i) - published[i], 1); }));
    }
    table.notes.emplace_back(
        "Each cycle is in one of rows 1, 4, 5 and 6; rows 2 and 3 split row 1 by cells; rows 7 and 8 are "
        "reasons for row 6, not parts of it. Row 9 counts the network's multiply-accumulates twice, a "
        "16-bit one like an 8-bit one; its published values are of production code, not of the counters.");
    return table;
}

Table table_3_differences(const Results& results) {
    Table table{.id = "table_3_differences",
                .title = "Table 3: mean absolute difference of the six, points",
                .columns = {"row", "difference", "at most"}};
    for (const std::size_t row : partition_rows) {
        table.rows.push_back({.label = std::string(titles[row]),
                              .cells = {Cell::number(counter_row_difference(row, results), 1),
                                        Cell::number(results.target.targets.counter_points, 1)}});
    }
    return table;
}

}  // namespace systole::validate

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/validate/means.h"
#include "sim/study/validate/table.h"
#include "sim/study/validate/workloads.h"

/// Rows of tables with a column for each workload.
namespace systole::validate {

/// A column for the labels, one for each workload, and some more.
inline std::vector<std::string> workload_columns(std::initializer_list<const char*> more = {}) {
    std::vector<std::string> columns{""};
    columns.insert(columns.end(), workload_names.begin(), workload_names.end());
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

/// A cell of each workload, from its number, and some more.
template <class CellOf>
Row workload_row(std::string label, CellOf&& cell_of, std::initializer_list<Cell> more = {}) {
    Row row{.label = std::move(label), .cells = {}};
    for (std::size_t i = 0; i < workload_count; ++i) row.cells.push_back(cell_of(i));
    row.cells.insert(row.cells.end(), more);
    return row;
}

/// A factor of each workload, and its geometric and weighted mean.
inline Row factor_row(std::string label, const ByWorkload<double>& factors, double geometric, double weighted,
                      int digits) {
    return workload_row(std::move(label), [&](std::size_t i) { return Cell::number(factors[i], digits); },
                        {Cell::number(geometric, digits), Cell::number(weighted, digits)});
}
inline Row factor_row(std::string label, const ByWorkload<double>& factors, const Weights& weights,
                      int digits) {
    return factor_row(std::move(label), factors, geometric_mean(factors), weighted_mean(weights, factors),
                      digits);
}

}  // namespace systole::validate

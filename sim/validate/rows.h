#pragma once

#include <string>
#include <vector>

#include "sim/validate/table.h"
#include "sim/validate/workloads.h"

/// Rows of tables with a column for each workload.
namespace systole::validate {

inline std::vector<std::string> workload_columns(std::string label) {
    std::vector<std::string> columns{std::move(label)};
    columns.insert(columns.end(), workload_names.begin(), workload_names.end());
    return columns;
}

/// A cell of each workload, from its number.
template <class CellOf>
Row workload_row(std::string label, CellOf&& cell_of) {
    Row row{.label = std::move(label), .cells = {}};
    for (std::size_t i = 0; i < workload_count; ++i) row.cells.push_back(cell_of(i));
    return row;
}

}  // namespace systole::validate

#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table table_8(const Results& results) {
    Table table{.id = "table_8",
                .title = "Table 8: the most of the unified buffer in use, MiB",
                .columns = workload_columns()};
    constexpr double mebibyte = 1048576.0;
    const PerWorkload& published = results.published.table_8.unified_buffer_mib;
    table.rows.push_back(
        workload_row("published", [&](std::size_t i) { return Cell::number(published[i], 1); }));
    table.rows.push_back(workload_row("ours", [&](std::size_t i) {
        return Cell::number(static_cast<double>(results.base[i].unified_buffer_peak_bytes) / mebibyte, 1);
    }));
    table.notes.emplace_back(
        "Ours is one batch at a time and what liveness needs; the published allocator may also hold the "
        "next batch's input and the last one's output.");
    return table;
}

}  // namespace systole::validate

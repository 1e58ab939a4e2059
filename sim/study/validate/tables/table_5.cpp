#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table table_5(const Results& results) {
    Table table{.id = "table_5",
                .title = "Table 5: time of host and TPU with each other, % of TPU time",
                .columns = workload_columns()};
    const auto add = [&](const char* label, auto&& cell) { table.rows.push_back(workload_row(label, cell)); };
    add("published", [&](std::size_t i) {
        return Cell::number(results.published.table_5.host_percent_of_tpu_time[i], 0);
    });
    add("ours, data on the link", [&](std::size_t i) {
        return Cell::percent(results.base[i].share(results.base[i].host_busy_cycles), 0);
    });
    add("  to the chip, KiB", [&](std::size_t i) {
        return Cell::number(static_cast<double>(results.base[i].host_read_bytes) / 1024.0, 0);
    });
    add("  from the chip, KiB", [&](std::size_t i) {
        return Cell::number(static_cast<double>(results.base[i].host_write_bytes) / 1024.0, 0);
    });
    table.notes.emplace_back(
        "Published shares include the driver's and the application's software on the host, which no model "
        "of the chip knows; ours are transfers alone, so they are below.");
    return table;
}

}  // namespace systole::validate

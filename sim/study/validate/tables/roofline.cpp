#include <fmt/format.h>

#include <algorithm>

#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table roofline_table(const Results& results) {
    const Published& published = results.published;
    const double peak = results.machine.peak_ops_per_second() / 1e12;
    const double bytes_per_second = results.machine.weight_memory.bandwidth_gb_per_s * 1e9;
    Table table{.id = "roofline",
                .title = "Roofline (Figure 5): MACs a weight byte, and 10^12 operations a second",
                .columns = workload_columns()};
    const auto add = [&](const char* label, auto&& cell) { table.rows.push_back(workload_row(label, cell)); };
    const auto intensity = [&](std::size_t i) { return results.base[i].macs_per_weight_byte(); };
    add("MACs/byte published",
        [&](std::size_t i) { return Cell::number(published.table_1.macs_per_weight_byte[i], 0); });
    add("MACs/byte ours", [&](std::size_t i) { return Cell::number(intensity(i), 0); });
    add("TOPS published", [&](std::size_t i) { return Cell::number(published.table_3.rows[8][i], 1); });
    add("TOPS ours", [&](std::size_t i) { return Cell::number(results.base[i].tera_ops(), 1); });
    add("TOPS by our counters",
        [&](std::size_t i) { return Cell::number(peak * results.base[i].useful_share(), 1); });
    add("TOPS by row 2",
        [&](std::size_t i) { return Cell::number(peak * published.table_3.rows[1][i] / 100.0, 1); });
    add("bound by the roof", [&](std::size_t i) {
        return Cell::number(std::min(peak, 2.0 * intensity(i) * bytes_per_second / 1e12), 1);
    });
    table.notes.emplace_back(
        fmt::format("The ridge is at {} MACs a byte, published {}. The counters count half a "
                    "multiply-accumulate of a 16-bit activation as one: at half rate the array is as busy.",
                    Cell::number(peak * 1e12 / 2.0 / bytes_per_second, 0).text(),
                    Cell::number(published.figure_5.ridge_macs_per_byte, 0).text()));
    return table;
}

}  // namespace systole::validate

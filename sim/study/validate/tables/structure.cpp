#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table structure_table(const Results& results) {
    const Table1& published = results.published.table_1;
    const ByWorkload<Measurement>& base = results.base;
    Table table{.id = "table_1",
                .title = "Table 1: what the reconstructed networks have in common with the six",
                .columns = workload_columns()};
    const auto add = [&](const char* label, auto&& cell) { table.rows.push_back(workload_row(label, cell)); };
    add("batch", [&](std::size_t i) { return Cell::number(base[i].batch, 0); });
    add("weights published, 10^6",
        [&](std::size_t i) { return Cell::number(published.weights_millions[i], 0); });
    add("weights ours, 10^6",
        [&](std::size_t i) { return Cell::number(static_cast<double>(base[i].weight_bytes) / 1e6, 1); });
    add("MACs a weight byte, published",
        [&](std::size_t i) { return Cell::number(published.macs_per_weight_byte[i], 0); });
    add("MACs a weight byte, ours",
        [&](std::size_t i) { return Cell::number(base[i].macs_per_weight_byte(), 0); });
    return table;
}

}  // namespace systole::validate

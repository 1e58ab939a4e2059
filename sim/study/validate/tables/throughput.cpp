#include "sim/study/validate/performance.h"
#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table throughput_table(const Results& results) {
    const Published& published = results.published;
    Table table{.id = "throughput",
                .title = "Inferences a second, one batch after the other, and time of a batch",
                .columns = workload_columns()};
    table.rows.push_back(workload_row("IPS published", [&](std::size_t i) {
        if (i == MLP0) return Cell::number(published.table_4.tpu.within_limit.inferences_per_second, 0);
        if (i == MLP1) return Cell::number(published.section_8.mlp1_inferences_per_second, 0);
        if (i == CNN1) return Cell::number(published.section_8.cnn1_inferences_per_second, 0);
        return Cell();
    }));
    table.rows.push_back(workload_row("IPS ours, chip alone", [&](std::size_t i) {
        return Cell::number(results.base[i].inferences_per_second(), 0);
    }));
    table.rows.push_back(workload_row("IPS ours, with Table 5", [&](std::size_t i) {
        return Cell::number(inferences_per_second_with_host(results, i), 0);
    }));
    table.rows.push_back(workload_row("ms a batch, chip alone", [&](std::size_t i) {
        return Cell::number(1e3 * results.base[i].seconds(), 3);
    }));
    table.notes.emplace_back(
        "Published for three of the six (Table 4, section 8), the host's time included and at loads that "
        "keep latency limits.");
    return table;
}

}  // namespace systole::validate

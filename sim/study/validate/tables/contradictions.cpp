#include <fmt/format.h>

#include "sim/study/validate/performance.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table contradictions_table(const Results& results) {
    const Published& p = results.published;
    const Table3& counters = p.table_3;
    const double peak = p.table_2.peak_tops;
    Table table{.id = "contradictions",
                .title = "Where the article contradicts itself",
                .columns = {"what", "one place", "another"}};
    const auto number = [](double value, int digits) { return Cell::number(value, digits).text(); };
    const auto add = [&](std::string what, std::string one, std::string another) {
        table.rows.push_back({.label = std::move(what),
                              .cells = {Cell::words(std::move(one)), Cell::words(std::move(another))}});
    };
    for (std::size_t i = 0; i < workload_count; ++i) {
        add(fmt::format("{} TOPS, rows 2 and 9", workload_names[i]),
            number(peak * counters.rows[1][i] / 100.0, 1), number(counters.rows[8][i], 1));
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < workload_count; ++i) sum += counters.rows[3][i];
    add("mean of row 4, printed and computed", number(counters.rows[3][workload_count], 0) + " %",
        number(sum / workload_count, 1) + " %");
    for (const std::size_t i : {LSTM0, LSTM1, CNN1}) {
        add(fmt::format("{} rows 7 + 8, part of row 6", workload_names[i]),
            number(counters.rows[6][i] + counters.rows[7][i], 1) + " %",
            number(counters.rows[5][i], 1) + " %");
    }
    add("weight memory, Table 2 and Figure 1", number(p.table_2.weight_memory_gb_per_s, 0) + " GB/s",
        fmt::format("{} GiB/s = {} GB/s", number(p.figure_1.weight_memory_gib_per_s, 0),
                    number(p.figure_1.weight_memory_gib_per_s * 1.073741824, 1)));
    const double macs =
        p.table_1.macs_per_weight_byte[CNN1] * p.table_1.weights_millions[CNN1] * 1e6 / p.table_1.batch[CNN1];
    add("CNN1 GMACs an inference, Tables 1 and 3", number(macs / 1e9, 1),
        number(counters.rows[8][CNN1] * 1e12 / 2.0 / p.section_8.cnn1_inferences_per_second / 1e9, 1));
    add("idle TPU, Table 2 and Figure 10", number(p.table_2.tpu_idle_watts, 0) + " W",
        number(p.figure_10.curves[TpuWatts][0], 0) + " W");
    add("busy TPU, text and Figure 10", number(p.figure_10_text.tpu_watts_at_full_load, 0) + " W",
        number(p.figure_10.curves[TpuWatts][loads.size() - 1], 0) + " W");
    add("busy GPU, Table 2 and Figure 10", number(results.gpu.power.busy_watts, 0) + " W",
        number(p.figure_10.curves[GpuWatts][loads.size() - 1], 0) + " W");
    // The bar is a weighted mean times what the rule of Figure 9 makes of servers.
    const double of_tpu = p.figure_9.total_wm[TpuOverCpu] * p.table_2.tpu_server_tdp_watts;
    const double of_prime = p.figure_9.total_wm[PrimeOverCpu] * p.tpu_prime.server_tdp_watts;
    add("TPU'/TPU with host, WM: text, Figure 9", number(p.tpu_prime.with_host_wm, 1),
        number(of_prime / of_tpu, 1));
    return table;
}

}  // namespace systole::validate

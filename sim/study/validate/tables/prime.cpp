#include "sim/study/validate/performance.h"
#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table prime_table(const Results& results) {
    const TpuPrime& published = results.published.tpu_prime;
    Table table{.id = "tpu_prime",
                .title = "TPU': speed-up with GDDR5, a faster clock, both",
                .columns = workload_columns({"GM", "WM"})};
    const auto ours = [&](const char* label, const ByWorkload<double>& factors) {
        table.rows.push_back(factor_row(label, factors, results.weights, 2));
    };
    const auto theirs = [&](const char* label, double gm, double wm) {
        table.rows.push_back(workload_row(label, [](std::size_t) { return Cell(); },
                                          {Cell::number(gm, 1), Cell::number(wm, 1)}));
    };
    theirs("memory published", published.memory_gm, published.memory_wm);
    ours("  ours", prime_speedup(results));
    ours("clock ours", speedup(results.prime_clock, results.base));
    theirs("both published", published.both_gm, published.both_wm);
    ours("  ours", speedup(results.prime_both, results.base));
    theirs("memory, host published", published.with_host_gm, published.with_host_wm);
    ours("  ours", prime_speedup_with_host(results));
    table.notes.emplace_back(
        "The memory's bandwidth is the one that puts the ridge at the published 250 MACs a byte; the "
        "faster clock alone is published as almost no change. The last rows add Table 5's host time to "
        "both chips. The bars of Figure 9 imply a WM of 2.6 there, not the 3.2 of the text.");
    return table;
}

}  // namespace systole::validate

#include <fmt/format.h>

#include <algorithm>

#include "sim/study/validate/performance.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table claim_table(const Results& results) {
    const Claim& claim = results.published.claim;
    const RelativePerformance performance = relative_performance(results);
    const ServerEfficiency efficiency = server_efficiency(results);
    Table table{.id = "claim",
                .title = "The abstract's claim: over contemporary CPUs and GPUs, weighted means",
                .columns = {"", "claimed", "over GPU", "over CPU", "least of six", "most"}};
    const auto range = [](double from, double to) {
        return Cell::words(fmt::format("{:.0f} to {:.0f} times", from, to));
    };
    const auto extremes = [&](auto&& choose) {
        double value = performance.ours[TpuOverCpu][0];
        for (const Ratio ratio : {TpuOverCpu, TpuOverGpu}) {
            for (const double each : performance.ours[ratio]) value = choose(value, each);
        }
        return Cell::number(value, 1);
    };
    const auto mean = [&](Ratio ratio) { return weighted_mean(results.weights, performance.ours[ratio]); };
    table.rows.push_back({.label = "performance",
                          .cells = {range(claim.performance_from, claim.performance_to),
                                    Cell::number(mean(TpuOverGpu), 1), Cell::number(mean(TpuOverCpu), 1),
                                    extremes([](double a, double b) { return std::min(a, b); }),
                                    extremes([](double a, double b) { return std::max(a, b); })}});
    table.rows.push_back({.label = "a watt, incremental",
                          .cells = {range(claim.per_watt_from, claim.per_watt_to),
                                    Cell::number(efficiency.weighted[TpuOverGpu].incremental, 1),
                                    Cell::number(efficiency.weighted[TpuOverCpu].incremental, 1)}});
    table.rows.push_back({.label = "a watt, total",
                          .cells = {Cell(), Cell::number(efficiency.weighted[TpuOverGpu].total, 1),
                                    Cell::number(efficiency.weighted[TpuOverCpu].total, 1)}});
    table.notes.emplace_back(
        "The claim speaks of weighted means over the deployed mix, of which the MLPs, memory bound on all "
        "three, are most; single workloads lie far outside.");
    return table;
}

}  // namespace systole::validate

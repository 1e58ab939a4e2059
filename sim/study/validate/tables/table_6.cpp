#include <fmt/format.h>

#include "sim/study/validate/performance.h"
#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

/// Our TPU, the host's share added, over an efficiency model of the other.
ByWorkload<double> all_models(const Results& results, const ByWorkload<double>& other) {
    ByWorkload<double> ratio{};
    for (std::size_t i = 0; i < workload_count; ++i) {
        ratio[i] = inferences_per_second_with_host(results, i) / other[i];
    }
    return ratio;
}

}  // namespace

Table table_6(const Results& results) {
    const Table6& published = results.published.table_6;
    const RelativePerformance performance = relative_performance(results);
    Table table{
        .id = "table_6", .title = "Table 6: performance per die", .columns = workload_columns({"GM", "WM"})};
    const auto computed = [&](const char* label, const ByWorkload<double>& values) {
        table.rows.push_back(factor_row(label, values, results.weights, 1));
    };
    ByWorkload<double> gpu_over_cpu{};
    for (std::size_t i = 0; i < workload_count; ++i) {
        gpu_over_cpu[i] = results.gpu_inferences_per_second[i] / results.cpu_inferences_per_second[i];
    }
    const std::array<ByWorkload<double>, 3> models{gpu_over_cpu,
                                                   all_models(results, results.cpu_inferences_per_second),
                                                   all_models(results, results.gpu_inferences_per_second)};
    for (std::size_t ratio = 0; ratio < ratio_names.size(); ++ratio) {
        table.rows.push_back(factor_row(fmt::format("{} published", ratio_names[ratio]),
                                        performance.published[ratio], published.geometric_mean[ratio],
                                        published.weighted_mean[ratio], 1));
        if (ratio != GpuOverCpu) computed("  ours", performance.ours[ratio]);
        computed("  all by models", models[ratio]);
    }
    const MlpSplit split = mlp_split(results.published);
    table.notes.emplace_back(
        "Ours: the CPU and GPU as measured by the authors, the TPU as simulated: the published ratio times "
        "our row 2 of Table 3 over the published one. All by models: our simulated TPU with Table 5's host "
        "time added, over the baselines' efficiency models, which know neither their software nor the "
        "networks' inputs.");
    table.notes.emplace_back(fmt::format(
        "WM weighs by deployment: MLP {:.0f} %, LSTM {:.0f} %, CNN {:.0f} % (Table 1). How a pair shares "
        "its weight is not published: Table 6's own WM come out if MLP0 has {:.1f} % (TPU/CPU) or {:.1f} % "
        "(GPU/CPU) of its pair; the mean, {:.1f} %, is used, and the other pairs are halved.",
        results.published.table_1.deployed_percent[0], results.published.table_1.deployed_percent[1],
        results.published.table_1.deployed_percent[2], 100.0 * split.by_tpu_over_cpu,
        100.0 * split.by_gpu_over_cpu, 100.0 * split.used()));
    return table;
}

}  // namespace systole::validate

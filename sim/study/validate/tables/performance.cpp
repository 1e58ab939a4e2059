#include <fmt/format.h>

#include <algorithm>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"
#include "sim/study/validate/queue.h"

namespace systole::validate {
namespace {

Table roofline_table(const Results& results) {
    const Published& published = results.published;
    const double peak = results.machine.peak_ops_per_second() / 1e12;
    const double bytes_per_second = results.machine.weight_memory.bandwidth_gb_per_s * 1e9;
    const ByWorkload<run::RunRecord>& base = results.base;
    const ByWorkload<double> intensity = of_each(base, macs_per_weight_byte);
    const ByWorkload<double> useful = published.table_3(useful_row);
    Table table = results.table("roofline", {{"ours", peak * 1e12 / 2.0 / bytes_per_second}});
    table.add("MACs/byte published", published.workloads("table_1.macs_per_weight_byte"), 0);
    table.add("MACs/byte ours", intensity, 0);
    table.add("TOPS published", published.workloads("table_3.tera_ops"), 1);
    table.add("TOPS ours", of_each(results.base, tera_ops), 1);
    const auto roof = [&](double macs_per_byte) {
        return std::min(peak, 2.0 * macs_per_byte * bytes_per_second / 1e12);
    };
    table.add("TOPS by our counters", by_workload([&](auto i) { return peak * useful_share(base[i]); }), 1);
    table.add("TOPS by row 2", by_workload([&](auto i) { return peak * useful[i] / 100.0; }), 1);
    table.add("bound by the roof", by_workload([&](auto i) { return roof(intensity[i]); }), 1);
    return table;
}

Table throughput_table(const Results& results) {
    const Published& published = results.published;
    Table table = results.table("throughput");
    ByWorkload<std::optional<double>> theirs;
    theirs[MLP0] = published.at("table_4.tpu.within_limit.inferences_per_second");
    theirs[MLP1] = published.at("section_8.mlp1_inferences_per_second");
    theirs[CNN1] = published.at("section_8.cnn1_inferences_per_second");
    const auto with_host = [&](std::size_t i) { return inferences_per_second_with_host(results, i); };
    table.add("IPS published", theirs, 0);
    table.add("IPS ours, chip alone", of_each(results.base, inferences_per_second), 0);
    table.add("IPS ours, with Table 5", by_workload(with_host), 0);
    table.add("ms a batch, chip alone",
              of_each(results.base, [](const auto& record) { return 1e3 * seconds(record); }), 3);
    return table;
}

/// The rows of one batch size, published and ours, with and without the host's share of Table 5.
void add_latency_rows(Table& table, const Published& published, const std::string& path,
                      const run::RunRecord& ours) {
    constexpr double percentile = 0.99;
    const double throughput = published.at(path + ".inferences_per_second");
    const double limit_seconds = published.at("table_4.limit_ms") / 1e3;
    const std::uint32_t batch = ours.program.batch;
    const auto add = [&](const char* label, double service_seconds) {
        const double capacity = batch / service_seconds;
        const double load = throughput / capacity;
        std::optional<double> latency_ms;
        if (load < 0.99) latency_ms = 1e3 * service_seconds * response_time(load, percentile);
        const double most = largest_load(limit_seconds / service_seconds, percentile);
        table.add(fmt::format("{} {}", batch, label),
                  {Cell::number(1e3 * service_seconds, 2), Cell::number(capacity, 0), Cell::percent(load, 0),
                   Cell::number(latency_ms, 1), Cell::number(most * capacity, 0)});
    };
    table.add(fmt::format("{} published", batch),
              {{}, {}, {}, Cell::number(published.at(path + ".p99_ms"), 1), Cell::number(throughput, 0)});
    add("ours, chip", seconds(ours));
    add("ours, chip + host", seconds(ours) * (1.0 + host_share(published, MLP0)));
}

Table table_4(const Results& results) {
    const Published& published = results.published;
    Table table = results.table("table_4");
    add_latency_rows(table, published, "table_4.tpu.within_limit", results.base[MLP0]);
    add_latency_rows(table, published, "table_4.tpu.at_maximum", results.largest_batch);
    return table;
}

Table table_5(const Results& results) {
    Table table = results.table("table_5");
    const auto link_percent = [](const run::RunRecord& record) {
        return 100.0 * (share_of_cycles(record, "host_read.busy_cycles") +
                        share_of_cycles(record, "host_write.busy_cycles"));
    };
    const auto kibibytes = [&](const char* counter) {
        return of_each(results.base, [&](const run::RunRecord& record) {
            return static_cast<double>(record.counters.at(counter).value()) / 1024.0;
        });
    };
    table.add("published", results.published.workloads("table_5.host_percent_of_tpu_time"), 0);
    table.add("ours, data on the link", of_each(results.base, link_percent), 0);
    table.add("  to the chip, KiB", kibibytes("host_interface.read_bytes"), 0);
    table.add("  from the chip, KiB", kibibytes("host_interface.write_bytes"), 0);
    return table;
}

Table table_6(const Results& results) {
    const Published& published = results.published;
    const auto& cpu = results.cpu_inferences_per_second;
    const auto& gpu = results.gpu_inferences_per_second;
    const auto tpu = by_workload([&](std::size_t i) { return inferences_per_second_with_host(results, i); });
    const auto over = [](const ByWorkload<double>& first, const ByWorkload<double>& second) {
        return by_workload([&](std::size_t i) { return first[i] / second[i]; });
    };
    const std::array<ByWorkload<double>, 3> models{over(gpu, cpu), over(tpu, cpu), over(tpu, gpu)};
    const auto geometric = published.row("table_6.geometric_mean", ratio_names);
    const auto weighted = published.row("table_6.weighted_mean", ratio_names);
    const MlpSplit split = mlp_split(published);
    Table table = results.table("table_6", {{"tpu_over_cpu", 100.0 * split.by_tpu_over_cpu},
                                            {"gpu_over_cpu", 100.0 * split.by_gpu_over_cpu},
                                            {"used", 100.0 * split.used()}});
    for (const Ratio ratio : {GpuOverCpu, TpuOverCpu, TpuOverGpu}) {
        table.add(fmt::format("{} published", ratio_names[ratio]),
                  joined(numbers(published.table_6(ratio), 1),
                         numbers(std::array{geometric[ratio], weighted[ratio]}, 1)));
        if (ratio != GpuOverCpu) {
            table.add("  ours", factors_and_means(relative_performance(results, ratio), results.weights, 1));
        }
        table.add("  all by models", factors_and_means(models[ratio], results.weights, 1));
    }
    return table;
}

}  // namespace

Table baselines_table(const Results& results) {
    const BaselineErrors& errors = results.baseline_errors;
    Table table = results.table("baselines");
    const auto add = [&](const BaselineErrorRow& row, const std::string& whose) {
        const bool large = row.published >= 100.0;
        table.add(fmt::format("{}, {}", row.source, whose),
                  {Cell::words(row.workload), row.batch == 0 ? Cell() : Cell::number(row.batch, 0),
                   Cell::words(row.unit), Cell::number(row.published, large ? 0 : 1),
                   Cell::number(row.ours, large ? 0 : 2), Cell::difference(100.0 * row.error(), 0),
                   row.held_out_error ? Cell::difference(100.0 * *row.held_out_error, 0) : Cell()});
    };
    for (const auto* part : {&errors.throughput, &errors.latency, &errors.batch}) {
        for (const BaselineErrorRow& row : *part) add(row, row.baseline.substr(0, row.baseline.find('_')));
    }
    for (const BaselineErrorRow& row : errors.ratio) add(row, "GPU/CPU");

    for (const baselines::Baseline* baseline : {&results.cpu, &results.gpu}) {
        const auto summary = summarize(errors.throughput, baseline->name);
        if (!summary) continue;
        const std::string note =
            fmt::format("{}: throughput is off by {:.0f} to {:.0f} %, mean {:.0f} %; held out {:.0f} %.",
                        baseline->name, 100.0 * summary->least, 100.0 * summary->most, 100.0 * summary->mean,
                        100.0 * summary->held_out_mean.value());
        table.notes.insert(table.notes.end() - 1, note);  // the last one gives the reason
    }
    return table;
}

std::vector<Table> performance_tables(const Results& results) {
    return {roofline_table(results), throughput_table(results), table_4(results),
            table_5(results),        table_6(results),          baselines_table(results)};
}

}  // namespace systole::validate

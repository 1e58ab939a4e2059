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
    const ByWorkload<double> intensity = of_each(results.base, macs_per_weight_byte);
    const ByWorkload<double> useful = published.table_3(useful_row);
    Table table{.id = "roofline",
                .title = "Roofline (Figure 5): MACs a weight byte, and 10^12 operations a second",
                .columns = titles("", workload_names)};
    const auto add = [&](const char* label, const auto& value) {
        table.add(label, numbers(by_workload(value), 1));
    };
    table.add("MACs/byte published", numbers(published.workloads("table_1.macs_per_weight_byte"), 0));
    table.add("MACs/byte ours", numbers(intensity, 0));
    table.add("TOPS published", numbers(published.workloads("table_3.tera_ops"), 1));
    table.add("TOPS ours", numbers(of_each(results.base, tera_ops), 1));
    add("TOPS by our counters", [&](std::size_t i) { return peak * useful_share(results.base[i]); });
    add("TOPS by row 2", [&](std::size_t i) { return peak * useful[i] / 100.0; });
    add("bound by the roof",
        [&](std::size_t i) { return std::min(peak, 2.0 * intensity[i] * bytes_per_second / 1e12); });
    table.notes.emplace_back(
        fmt::format("The ridge is at {} MACs a byte, published {}. The counters count half a "
                    "multiply-accumulate of a 16-bit activation as one: at half rate the array is as busy.",
                    Cell::number(peak * 1e12 / 2.0 / bytes_per_second, 0).text(),
                    Cell::number(published.at("figure_5.ridge_macs_per_byte"), 0).text()));
    return table;
}

Table throughput_table(const Results& results) {
    const Published& published = results.published;
    Table table{.id = "throughput",
                .title = "Inferences a second, one batch after the other, and time of a batch",
                .columns = titles("", workload_names)};
    ByWorkload<std::optional<double>> theirs;
    theirs[MLP0] = published.at("table_4.tpu.within_limit.inferences_per_second");
    theirs[MLP1] = published.at("section_8.mlp1_inferences_per_second");
    theirs[CNN1] = published.at("section_8.cnn1_inferences_per_second");
    const auto with_host = [&](std::size_t i) { return inferences_per_second_with_host(results, i); };
    table.add("IPS published", numbers(theirs, 0));
    table.add("IPS ours, chip alone", numbers(of_each(results.base, inferences_per_second), 0));
    table.add("IPS ours, with Table 5", numbers(by_workload(with_host), 0));
    table.add("ms a batch, chip alone",
              numbers(of_each(results.base, [](const auto& record) { return 1e3 * seconds(record); }), 3));
    table.notes.emplace_back(
        "Published for three of the six (Table 4, section 8), the host's time included and at loads that "
        "keep latency limits.");
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
    Table table{.id = "table_4",
                .title = fmt::format("Table 4: MLP0, service time of a batch, and its {} ms limit",
                                     Cell::number(published.at("table_4.limit_ms"), 0).text()),
                .columns = {"batch", "ms", "most IPS", "load %", "99th % ms", "IPS in limit"}};
    add_latency_rows(table, published, "table_4.tpu.within_limit", results.base[MLP0]);
    add_latency_rows(table, published, "table_4.tpu.at_maximum", results.largest_batch);
    table.notes.emplace_back(
        "Ours: ms is the time of a batch, most IPS what follows from it. Batches arrive at random "
        "(Poisson) and are served one after the other in the same time (M/D/1); load and 99th percentile "
        "are at the published inferences a second (IPS) of the batch. The published rows were measured at "
        "their loads; the second is the most the chip could be given, beyond the limit. Chip + host adds "
        "Table 5's share of host time to each batch. - where a load is 99 % or more.");
    return table;
}

Table table_5(const Results& results) {
    Table table{.id = "table_5",
                .title = "Table 5: time of host and TPU with each other, % of TPU time",
                .columns = titles("", workload_names)};
    const auto link_percent = [](const run::RunRecord& record) {
        return 100.0 * (share_of_cycles(record, "host_read.busy_cycles") +
                        share_of_cycles(record, "host_write.busy_cycles"));
    };
    const auto kibibytes = [&](const char* counter) {
        return of_each(results.base, [&](const run::RunRecord& record) {
            return static_cast<double>(record.counters.at(counter).value()) / 1024.0;
        });
    };
    table.add("published", numbers(results.published.workloads("table_5.host_percent_of_tpu_time"), 0));
    table.add("ours, data on the link", numbers(of_each(results.base, link_percent), 0));
    table.add("  to the chip, KiB", numbers(kibibytes("host_interface.read_bytes"), 0));
    table.add("  from the chip, KiB", numbers(kibibytes("host_interface.write_bytes"), 0));
    table.notes.emplace_back(
        "Published shares include the driver's and the application's software on the host, which no model "
        "of the chip knows; ours are transfers alone, so they are below.");
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
    Table table{.id = "table_6",
                .title = "Table 6: performance per die",
                .columns = titles("", workload_names, {"GM", "WM"})};
    for (const Ratio ratio : {GpuOverCpu, TpuOverCpu, TpuOverGpu}) {
        table.add(fmt::format("{} published", ratio_names[ratio]),
                  joined(numbers(published.table_6(ratio), 1),
                         numbers(std::array{geometric[ratio], weighted[ratio]}, 1)));
        if (ratio != GpuOverCpu) {
            table.add("  ours", factors_and_means(relative_performance(results, ratio), results.weights, 1));
        }
        table.add("  all by models", factors_and_means(models[ratio], results.weights, 1));
    }
    const MlpSplit split = mlp_split(published);
    table.notes.emplace_back(
        "Ours: the CPU and GPU as measured by the authors, the TPU as simulated: the published ratio times "
        "our row 2 of Table 3 over the published one. All by models: our simulated TPU with Table 5's host "
        "time added, over the baselines' efficiency models, which know neither their software nor the "
        "networks' inputs.");
    table.notes.emplace_back(fmt::format(
        "WM weighs by deployment: MLP {:.0f} %, LSTM {:.0f} %, CNN {:.0f} % (Table 1). How a pair shares "
        "its weight is not published: Table 6's own WM come out if MLP0 has {:.1f} % (TPU/CPU) or {:.1f} % "
        "(GPU/CPU) of its pair; the mean, {:.1f} %, is used, and the other pairs are halved.",
        published.at("table_1.deployed_percent.MLP"), published.at("table_1.deployed_percent.LSTM"),
        published.at("table_1.deployed_percent.CNN"), 100.0 * split.by_tpu_over_cpu,
        100.0 * split.by_gpu_over_cpu, 100.0 * split.used()));
    return table;
}

}  // namespace

Table baselines_table(const Results& results) {
    const BaselineErrors& errors = results.baseline_errors;
    Table table{.id = "baselines",
                .title = "CPU and GPU: their efficiency models against their published rows",
                .columns = {"", "workload", "batch", "unit", "published", "ours", "error %", "held out"}};
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

    table.notes.emplace_back(
        "Held out: the error in a row when the efficiency is fitted to the other rows of the baseline. ms: "
        "99th percentile of latency. Batch: the largest of MLP0 within the limit of latency.");
    for (const baselines::Baseline* baseline : {&results.cpu, &results.gpu}) {
        const auto summary = summarize(errors.throughput, baseline->name);
        if (!summary) continue;
        table.notes.push_back(
            fmt::format("{}: throughput is off by {:.0f} to {:.0f} %, mean {:.0f} %; held out {:.0f} %.",
                        baseline->name, 100.0 * summary->least, 100.0 * summary->most, 100.0 * summary->mean,
                        100.0 * summary->held_out_mean.value()));
    }
    table.notes.emplace_back("A roofline with a cost of layers cannot know six applications' software.");
    return table;
}

std::vector<Table> performance_tables(const Results& results) {
    return {roofline_table(results), throughput_table(results), table_4(results),
            table_5(results),        table_6(results),          baselines_table(results)};
}

}  // namespace systole::validate

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/latency.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

constexpr std::size_t tenth = 1;  ///< index into `loads`
constexpr std::size_t full = loads.size() - 1;

Table roofline_table(const Results& results) {
    const Published& published = results.published;
    const double peak = results.machine.peak_ops_per_second() / 1e12;
    const double bytes_per_second = results.machine.weight_memory.bandwidth_gb_per_s * 1e9;
    const ByWorkload<run::RunRecord>& base = results.base;
    const ByWorkload<double> intensity = of_each(base, macs_per_weight_byte);
    const ByWorkload<double> useful = published.table_3(useful_row);
    Table table = results.table("roofline", {{"ours", ridge_macs_per_byte(results.machine)}});
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
    table.add("IPS published", theirs, 0);
    table.add("IPS ours, chip alone", of_each(results.base, inferences_per_second), 0);
    table.add("IPS ours, with Table 5", inferences_per_second_with_host(results), 0);
    table.add("latency, ms, chip alone",
              of_each(results.base, [](const auto& record) { return 1e3 * latency_seconds(record); }), 3);
    return table;
}

/// The rows of one batch size, published and ours, with and without the host's share of Table 5.
void add_latency_rows(Table& table, const Published& published, const std::string& path,
                      const run::RunRecord& ours) {
    const double throughput = published.at(path + ".inferences_per_second");
    const std::uint32_t batch = ours.program.batch;
    const auto add = [&](const char* label, double latency) {
        const ServiceFigures figures = service_figures(published, path, batch, latency);
        table.add(fmt::format("{} {}", batch, label),
                  {Cell::number(1e3 * latency, 2), Cell::number(figures.capacity, 0),
                   Cell::percent(figures.load, 0), Cell::number(figures.p99_ms, 1),
                   Cell::number(figures.most_in_limit, 0)});
    };
    table.add(fmt::format("{} published", batch),
              {{}, {}, {}, Cell::number(published.at(path + ".p99_ms"), 1), Cell::number(throughput, 0)});
    add("ours, chip", latency_seconds(ours));
    add("ours, chip + host", latency_seconds(ours) * (1.0 + host_share(published, MLP0)));
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
    const auto geometric = published.row("table_6.geometric_mean", ratio_names);
    const auto weighted = published.row("table_6.weighted_mean", ratio_names);
    Table table = results.table("table_6", {{"tpu_over_cpu", 100.0 * mlp0_part(published, TpuOverCpu)},
                                            {"gpu_over_cpu", 100.0 * mlp0_part(published, GpuOverCpu)},
                                            {"used", 100.0 * mlp0_part(published)}});
    for (const Ratio ratio : {GpuOverCpu, TpuOverCpu, TpuOverGpu}) {
        table.add(fmt::format("{} published", ratio_names[ratio]),
                  joined(numbers(published.table_6(ratio), 1),
                         numbers(std::array{geometric[ratio], weighted[ratio]}, 1)));
        if (ratio != GpuOverCpu) {
            table.add("  ours", factors_and_means(relative_performance(results, ratio), results.weights, 1));
        }
        table.add("  all by models",
                  factors_and_means(modelled_performance(results, ratio), results.weights, 1));
    }
    return table;
}

Table figure_9_table(const Results& results) {
    const EfficiencyBars ours = server_efficiency(results);
    const EfficiencyBars errors = efficiency_errors(results);
    Table table = results.table("figure_9");
    constexpr std::array<const char*, efficiency_keys.size()> names{"total, GM", "total, WM",
                                                                    "incremental, GM", "incremental, WM"};
    for (std::size_t bar = 0; bar < names.size(); ++bar) {
        table.add(fmt::format("{}, published", names[bar]), results.published.figure_9(bar), 1);
        table.add("  ours", ours[bar], 1);
        table.add("  error %", differences(errors[bar], 0, 100.0));
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
                   Cell::words(row.unit), Cell::number(row.published, large ? 0 : 1), Cell::rough(row.ours),
                   Cell::difference(100.0 * row.error(), 0),
                   row.left_out_error ? Cell::difference(100.0 * *row.left_out_error, 0) : Cell()});
    };
    for (const auto* part : {&errors.throughput, &errors.latency, &errors.batch}) {
        for (const BaselineErrorRow& row : *part) add(row, row.baseline.substr(0, row.baseline.find('_')));
    }
    for (const BaselineErrorRow& row : errors.ratio) add(row, "GPU/CPU");

    for (const baselines::Baseline* baseline : {&results.cpu, &results.gpu}) {
        std::vector<double> sizes;
        std::vector<double> left_out;
        for (const BaselineErrorRow& row : errors.throughput) {
            if (row.baseline != baseline->name) continue;
            sizes.push_back(100.0 * std::abs(row.error()));
            left_out.push_back(100.0 * std::abs(row.left_out_error.value()));
        }
        const std::string note =
            fmt::format("{}: throughput is off by {:.0f} to {:.0f} %, mean {:.0f} %; left out {:.0f} %.",
                        baseline->name, std::ranges::min(sizes), std::ranges::max(sizes),
                        arithmetic_mean(sizes), arithmetic_mean(left_out));
        table.notes.insert(table.notes.end() - 1, note);  // the last one gives the reason
    }
    return table;
}

Table figure_10_table(const Results& results) {
    const Published& published = results.published;
    Table table = results.table("figure_10", {{"busy_gpu", results.gpu.power.busy_watts}});
    for (std::size_t i = 0; i < loads.size(); ++i) {
        Cells cells;
        for (const PowerCurve curve : {TpuWatts, TpuWithHostWatts, GpuWatts, GpuWithHostWatts, CpuWatts}) {
            cells.push_back(Cell::number(published.figure_10(curve)[i], 0));
            cells.push_back(Cell::number(watts(results, curve, CNN0).at(loads[i]), 1));
        }
        table.add(std::string(load_names[i]), std::move(cells));
    }
    return table;
}

Table figure_10_text_table(const Results& results) {
    const Published& published = results.published;
    Table table = results.table("figure_10_text");
    const auto add = [&](Workload workload, const char* said, PowerCurve curve, const char* name) {
        const Cell text =
            *said == '\0' ? Cell() : Cell::number(published.at(fmt::format("figure_10_text.{}", said)), 0);
        const auto points = published.figure_10(curve);
        const Cell figure = workload == CNN0 ? Cell::percent(points[tenth] / points[full], 0) : Cell();
        const double ours = watts(results, curve, workload).share_at(loads[tenth]);
        table.add(fmt::format("{}, {}", workload_names[workload], name),
                  {text, figure, Cell::percent(ours, 0)});
    };
    add(CNN0, "cnn0_percent_at_tenth_load.TPU", TpuWatts, "TPU");
    add(CNN0, "", TpuWithHostWatts, "TPU + host/2");
    add(CNN0, "cnn0_percent_at_tenth_load.CPU", CpuWatts, "CPU");
    add(CNN0, "cnn0_percent_at_tenth_load.GPU", GpuWatts, "GPU");
    add(CNN0, "", GpuWithHostWatts, "GPU + host/4");
    add(LSTM1, "lstm1_percent_at_tenth_load.TPU", TpuWatts, "TPU");
    add(LSTM1, "lstm1_percent_at_tenth_load.CPU", CpuWatts, "CPU");
    add(LSTM1, "lstm1_percent_at_tenth_load.GPU", GpuWatts, "GPU");

    const double tpu_dies = published.at("table_2.tpu_dies");
    const double cpu_dies = published.at("table_2.cpu_dies");
    const auto more = [&](double with_tpus, double cpu) {
        return Cell::percent(with_tpus * tpu_dies / (cpu * cpu_dies) - 1.0, 0);
    };
    table.add("TPU server over CPU server, watts %",
              {Cell::words(fmt::format("<{}", published.count("figure_10_text.tpu_server_extra_percent"))),
               more(published.figure_10(TpuWithHostWatts)[full], published.figure_10(CpuWatts)[full]),
               more(watts(results, TpuWithHostWatts, CNN0).busy, watts(results, CpuWatts, CNN0).busy)});
    table.add("  performance of CNN0, times",
              {Cell::number(published.at("figure_10_text.tpu_server_cnn0_times"), 0),
               {},
               Cell::number(relative_performance(results, TpuOverCpu)[CNN0] * tpu_dies / cpu_dies, 0)});
    return table;
}

std::vector<Table> performance_tables(const Results& results) {
    return {roofline_table(results), throughput_table(results), table_4(results),
            table_5(results),        table_6(results),          baselines_table(results),
            figure_9_table(results), figure_10_table(results),  figure_10_text_table(results)};
}

}  // namespace systole::validate

#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using baselines::Baseline;
using baselines::Expected;
using baselines::expected_at;

std::string table_4_path(Processor processor, const std::string& key) {
    return (processor == Processor::Cpu ? "table_4.cpu." : "table_4.gpu.") + key;
}

std::uint32_t batch_of_point(const Published& published, Processor processor, std::size_t workload) {
    constexpr double weight_bytes = 4.0;
    if (workload == MLP0) return published.count(table_4_path(processor, "within_limit.batch"));
    const char* const places = processor == Processor::Cpu ? "figure_6_places" : "figure_7_places";
    const auto intensity = [&](const std::string& section) {
        return published.workloads(section + ".macs_per_weight_byte")[workload];
    };
    const double uses_a_byte = intensity("table_1") / published.workloads("table_1.batch")[workload];
    return static_cast<std::uint32_t>(std::llround(intensity(places) * weight_bytes / uses_a_byte));
}

/// A row at some shares of peak and memory, without the time of launching layers.
struct Unlaunched {
    double distance = 0.0;  ///< logarithm of ours / published
    double seconds = 0.0;
    double layers = 0.0;
};

std::vector<Unlaunched> without_launches(const Baseline& baseline,
                                         std::span<const PublishedThroughput> rows) {
    std::vector<Unlaunched> result;
    result.reserve(rows.size());
    for (const PublishedThroughput& row : rows) {
        const Expected ours = *expected_at(baseline, row.network, row.batch);
        result.push_back({.distance = std::log(value_of(ours, row.measure) / row.value),
                          .seconds = ours.seconds,
                          .layers = static_cast<double>(row.network.layers.size())});
    }
    return result;
}

double sum_of_squares(std::span<const Unlaunched> rows, double layer_microseconds) {
    double sum = 0.0;
    for (const Unlaunched& row : rows) {
        const double slower = std::log1p(row.layers * layer_microseconds * 1e-6 / row.seconds);
        const double distance = row.distance - slower;
        sum += distance * distance;
    }
    return sum;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void add_errors(BaselineErrors& errors, const Baseline& baseline, const Published& published,
                Processor processor) {
    if (!baseline.efficiency.known()) {
        throw machine::ConfigError(fmt::format(
            "{}: efficiency is missing; without it nothing can be expected of it", baseline.name));
    }
    const std::vector<PublishedThroughput> rows = published_throughput(published, processor);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PublishedThroughput& row = rows[i];
        std::vector<PublishedThroughput> others = rows;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        Baseline held_out = baseline;
        held_out.efficiency = fit_efficiency(baseline, others);
        const Expected ours = *expected_at(baseline, row.network, row.batch);
        const Expected unseen = *expected_at(held_out, row.network, row.batch);
        BaselineErrorRow error{.source = row.source,
                               .baseline = baseline.name,
                               .workload = row.network.name,
                               .batch = row.batch,
                               .unit = row.measure == Measure::TeraOps ? "TOPS" : "inf/s",
                               .published = row.value,
                               .ours = value_of(ours, row.measure),
                               .held_out_error = value_of(unseen, row.measure) / row.value - 1.0};
        errors.throughput.push_back(error);
        if (!(row.latency_ms > 0.0) || !ours.latency_seconds) continue;
        error.unit = "ms";
        error.published = row.latency_ms;
        error.ours = *ours.latency_seconds * 1e3;
        error.held_out_error.reset();
        errors.latency.push_back(error);
    }
    const baselines::Network mlp0 = evenly_shared(published, MLP0);
    const auto within = baselines::expected_within(baseline, mlp0, baseline.efficiency.largest_batch,
                                                   published.at("table_4.limit_ms") * 1e-3);
    errors.batch.push_back({.source = "Table 4",
                            .baseline = baseline.name,
                            .workload = mlp0.name,
                            .unit = "batch",
                            .published = published.at(table_4_path(processor, "within_limit.batch")),
                            .ours = within ? within->batch : 0.0});
}

}  // namespace

baselines::Network evenly_shared(const Published& published, std::size_t workload) {
    const auto table_1 = [&](const std::string& key) {
        return published.workloads("table_1." + key)[workload];
    };
    const auto weight_layers =
        static_cast<std::uint64_t>(table_1("fully_connected") + table_1("convolution"));
    const auto other_layers = static_cast<std::uint64_t>(table_1("vector") + table_1("pool"));
    const double weights = table_1("weights_millions") * 1e6;
    const auto all_weights = static_cast<std::uint64_t>(std::llround(weights));
    const auto all_macs = static_cast<std::uint64_t>(
        std::llround(weights * table_1("macs_per_weight_byte") / table_1("batch")));

    baselines::Network network{.name = std::string(workload_names[workload]), .layers = {}};
    for (std::uint64_t i = 0; i < weight_layers; ++i) {
        network.layers.push_back(
            {.macs = all_macs / weight_layers, .weights = all_weights / weight_layers, .activations = 0});
    }
    if (weight_layers > 0) {  // the remainder of the division
        network.layers.front().macs += all_macs % weight_layers;
        network.layers.front().weights += all_weights % weight_layers;
    }
    network.layers.resize(weight_layers + other_layers);
    return network;
}

std::vector<PublishedThroughput> published_throughput(const Published& published, Processor processor) {
    const bool cpu = processor == Processor::Cpu;
    const ByWorkload<double> labels = published.workloads(cpu ? "figure_6.tera_ops" : "figure_7.tera_ops");
    std::vector<PublishedThroughput> rows;
    for (std::size_t i = 0; i < workload_count; ++i) {
        rows.push_back({.source = cpu ? "Figure 6" : "Figure 7",
                        .network = evenly_shared(published, i),
                        .batch = batch_of_point(published, processor, i),
                        .measure = Measure::TeraOps,
                        .value = labels[i]});
    }
    for (const char* const row : {"within_limit", "at_maximum"}) {
        const std::string path = table_4_path(processor, row);
        rows.push_back({.source = "Table 4",
                        .network = evenly_shared(published, MLP0),
                        .batch = published.count(path + ".batch"),
                        .measure = Measure::InferencesPerSecond,
                        .value = published.at(path + ".inferences_per_second"),
                        .latency_ms = published.at(path + ".p99_ms")});
    }
    return rows;
}

double value_of(const Expected& expected, Measure measure) {
    switch (measure) {
        case Measure::TeraOps:
            return expected.tops;
        case Measure::InferencesPerSecond:
            return expected.inferences_per_second;
    }
    throw std::logic_error("a measure that does not exist");
}

baselines::Efficiency fit_efficiency(const Baseline& baseline, std::span<const PublishedThroughput> rows) {
    if (rows.empty()) throw std::logic_error("an efficiency is fitted to at least one row");
    Baseline tried = baseline;
    tried.efficiency.layer_microseconds = 0.0;
    baselines::Efficiency best;
    double least = std::numeric_limits<double>::infinity();
    constexpr double same = 1e-9;  // smaller differences are a matter of rounding
    for (int memory = 100; memory >= 5; memory -= 5) {
        for (int peak = 100; peak >= 1; --peak) {
            tried.efficiency.peak_share = peak / 100.0;
            tried.efficiency.memory_share = memory / 100.0;
            const std::vector<Unlaunched> unlaunched = without_launches(tried, rows);
            for (int layer = 0; layer <= 400; layer += 5) {
                const double sum = sum_of_squares(unlaunched, layer);
                if (sum >= least - same) continue;
                least = sum;
                best = tried.efficiency;
                best.layer_microseconds = layer;
            }
        }
    }
    return best;
}

BaselineErrors baseline_errors(const Baseline& cpu, const Baseline& gpu, const Published& published) {
    BaselineErrors errors;
    add_errors(errors, cpu, published, Processor::Cpu);
    add_errors(errors, gpu, published, Processor::Gpu);
    const auto cpu_rows = published_throughput(published, Processor::Cpu);
    const auto gpu_rows = published_throughput(published, Processor::Gpu);
    const auto rate = [](const Baseline& baseline, const PublishedThroughput& row) {
        return expected_at(baseline, row.network, row.batch)->inferences_per_second;
    };
    for (std::size_t i = 0; i < workload_count; ++i) {  // the first rows are the points of the workloads
        errors.ratio.push_back({.source = "Table 6",
                                .baseline = gpu.name + " / " + cpu.name,
                                .workload = std::string(workload_names[i]),
                                .unit = "ratio",
                                .published = published.table_6(GpuOverCpu)[i],
                                .ours = rate(gpu, gpu_rows[i]) / rate(cpu, cpu_rows[i])});
    }
    return errors;
}

std::optional<ErrorSummary> summarize(std::span<const BaselineErrorRow> rows, std::string_view baseline) {
    std::vector<double> errors;
    std::vector<double> held_out;
    for (const BaselineErrorRow& row : rows) {
        if (!baseline.empty() && row.baseline != baseline) continue;
        errors.push_back(std::abs(row.error()));
        if (row.held_out_error) held_out.push_back(std::abs(*row.held_out_error));
    }
    if (errors.empty()) return std::nullopt;
    const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
    ErrorSummary summary{.least = *least, .mean = mean_of(errors), .most = *most};
    if (!held_out.empty()) summary.held_out_mean = mean_of(held_out);
    return summary;
}

}  // namespace systole::validate

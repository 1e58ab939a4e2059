#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using baselines::Baseline;
using baselines::Expected;
using baselines::expected_at;

std::string table_4_path(const Processor& processor, const std::string& key) {
    return fmt::format("table_4.{}.{}", processor.key, key);
}

std::uint32_t batch_of_point(const Published& published, const Processor& processor, std::size_t workload) {
    constexpr double weight_bytes = 4.0;
    if (workload == MLP0) return published.count(table_4_path(processor, "within_limit.batch"));
    const auto intensity = [&](const std::string& section) {
        return published.workloads(section + ".macs_per_weight_byte")[workload];
    };
    const double uses_a_byte = intensity("table_1") / published.workloads("table_1.batch")[workload];
    const double place = intensity(fmt::format("figure_{}_places", processor.figure));
    return static_cast<std::uint32_t>(std::llround(place * weight_bytes / uses_a_byte));
}

void add_errors(BaselineErrors& errors, const Baseline& baseline, const Published& published,
                const Processor& processor) {
    if (!baseline.efficiency.known()) {
        throw machine::ConfigError(fmt::format(
            "{}: efficiency is missing; without it nothing can be expected of it", baseline.name));
    }
    const std::vector<PublishedThroughput> rows = published_throughput(published, processor);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PublishedThroughput& row = rows[i];
        const auto& [network, batch, figure, value] = row.known;
        std::vector<baselines::KnownThroughput> others;
        for (std::size_t j = 0; j < rows.size(); ++j) {
            if (j != i) others.push_back(rows[j].known);
        }
        Baseline left_out = baseline;
        left_out.efficiency = baselines::fit_efficiency(baseline, others);
        const Expected ours = *expected_at(baseline, network, batch);
        const Expected unseen = *expected_at(left_out, network, batch);
        BaselineErrorRow error{.source = row.source,
                               .baseline = baseline.name,
                               .workload = network.name,
                               .batch = batch,
                               .unit = row.unit,
                               .published = value,
                               .ours = ours.*figure,
                               .left_out_error = unseen.*figure / value - 1.0};
        errors.throughput.push_back(error);
        if (!(row.latency_ms > 0.0) || !ours.latency_seconds) continue;
        error.unit = "ms";
        error.published = row.latency_ms;
        error.ours = *ours.latency_seconds * 1e3;
        error.left_out_error.reset();
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

std::vector<PublishedThroughput> published_throughput(const Published& published,
                                                      const Processor& processor) {
    const ByWorkload<double> labels =
        published.workloads(fmt::format("figure_{}.tera_ops", processor.figure));
    std::vector<PublishedThroughput> rows;
    for (std::size_t i = 0; i < workload_count; ++i) {
        rows.push_back({.source = fmt::format("Figure {}", processor.figure),
                        .unit = "TOPS",
                        .known = {.network = evenly_shared(published, i),
                                  .batch = batch_of_point(published, processor, i),
                                  .figure = &Expected::tops,
                                  .value = labels[i]}});
    }
    for (const char* const row : {"within_limit", "at_maximum"}) {
        const std::string path = table_4_path(processor, row);
        rows.push_back({.source = "Table 4",
                        .unit = "inf/s",
                        .known = {.network = evenly_shared(published, MLP0),
                                  .batch = published.count(path + ".batch"),
                                  .value = published.at(path + ".inferences_per_second")},
                        .latency_ms = published.at(path + ".p99_ms")});
    }
    return rows;
}

BaselineErrors baseline_errors(const Baseline& cpu, const Baseline& gpu, const Published& published) {
    BaselineErrors errors;
    add_errors(errors, cpu, published, cpu_die);
    add_errors(errors, gpu, published, gpu_die);
    const auto cpu_rows = published_throughput(published, cpu_die);
    const auto gpu_rows = published_throughput(published, gpu_die);
    const auto rate = [](const Baseline& baseline, const PublishedThroughput& row) {
        return expected_at(baseline, row.known.network, row.known.batch)->inferences_per_second;
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

}  // namespace systole::validate

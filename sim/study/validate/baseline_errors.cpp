#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/run/baselines/expected.h"
#include "sim/study/validate/efficiency_fit.h"

namespace systole::validate {
namespace {

using baselines::Baseline;
using baselines::expected_at;

const char* unit_of(Measure measure) {
    switch (measure) {
        case Measure::TeraOps:
            return "TOPS";
        case Measure::InferencesPerSecond:
            return "inf/s";
    }
    throw std::logic_error("a measure that does not exist");
}

void add_throughput(BaselineErrors& error, const Baseline& baseline,
                    std::span<const PublishedThroughput> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PublishedThroughput& row = rows[i];
        std::vector<PublishedThroughput> others(rows.begin(), rows.end());
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        Baseline held_out = baseline;
        held_out.efficiency = fit_efficiency(baseline, others);
        const auto ours_of = [&](const Baseline& which) {
            return value_of(*expected_at(which, row.network, row.batch), row.measure);
        };
        error.throughput.push_back({.source = row.source,
                                    .baseline = baseline.name,
                                    .workload = row.network.name,
                                    .batch = row.batch,
                                    .unit = unit_of(row.measure),
                                    .published = row.value,
                                    .ours = ours_of(baseline),
                                    .error = ours_of(baseline) / row.value - 1.0,
                                    .held_out_error = ours_of(held_out) / row.value - 1.0});
    }
}

void add_latency(BaselineErrors& error, const Baseline& baseline, std::span<const PublishedThroughput> rows) {
    for (const PublishedThroughput& row : rows) {
        const baselines::Expected ours = *expected_at(baseline, row.network, row.batch);
        if (!(row.latency_ms > 0.0) || !ours.latency_seconds) continue;
        const double milliseconds = *ours.latency_seconds * 1e3;
        error.latency.push_back({.source = row.source,
                                 .baseline = baseline.name,
                                 .workload = row.network.name,
                                 .batch = row.batch,
                                 .unit = "ms",
                                 .published = row.latency_ms,
                                 .ours = milliseconds,
                                 .error = milliseconds / row.latency_ms - 1.0,
                                 .held_out_error = {}});
    }
}

/// How many inferences MLP0 may gather within its limit of latency.
void add_batch_within_limit(BaselineErrors& error, const Baseline& baseline, const Published& published,
                            const LatencyRows& rows) {
    const baselines::Network mlp0 = evenly_shared(published.table_1, MLP0);
    const auto ours = baselines::expected_within(baseline, mlp0, baseline.efficiency.largest_batch,
                                                 published.table_4.limit_ms * 1e-3);
    const double batch = ours ? ours->batch : 0.0;
    error.batch.push_back({.source = "Table 4",
                           .baseline = baseline.name,
                           .workload = mlp0.name,
                           .batch = 0,
                           .unit = "batch",
                           .published = static_cast<double>(rows.within_limit.batch),
                           .ours = batch,
                           .error = batch / rows.within_limit.batch - 1.0,
                           .held_out_error = {}});
}

/// Each at the batch of its figure, whose rows come first, in the order of the workloads.
void add_ratios(BaselineErrors& error, const Baseline& cpu, const Baseline& gpu, const Published& published,
                std::span<const PublishedThroughput> cpu_rows,
                std::span<const PublishedThroughput> gpu_rows) {
    const auto rate = [](const Baseline& baseline, const PublishedThroughput& row) {
        return expected_at(baseline, row.network, row.batch)->inferences_per_second;
    };
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double theirs = published.table_6.ratios[GpuOverCpu][i];
        const double ours = rate(gpu, gpu_rows[i]) / rate(cpu, cpu_rows[i]);
        error.ratio.push_back({.source = "Table 6",
                               .baseline = gpu.name + " / " + cpu.name,
                               .workload = std::string(workload_names[i]),
                               .batch = 0,
                               .unit = "ratio",
                               .published = theirs,
                               .ours = ours,
                               .error = ours / theirs - 1.0,
                               .held_out_error = {}});
    }
}

void require_efficiency(const Baseline& baseline) {
    if (baseline.efficiency.known()) return;
    throw machine::ConfigError(
        fmt::format("{}: efficiency is missing; without it nothing can be expected of it", baseline.name));
}

}  // namespace

BaselineErrors baseline_errors(const Baseline& cpu, const Baseline& gpu, const Published& published) {
    require_efficiency(cpu);
    require_efficiency(gpu);
    const auto cpu_rows = published_throughput(published, Processor::Cpu);
    const auto gpu_rows = published_throughput(published, Processor::Gpu);
    BaselineErrors error;
    add_throughput(error, cpu, cpu_rows);
    add_throughput(error, gpu, gpu_rows);
    add_latency(error, cpu, cpu_rows);
    add_latency(error, gpu, gpu_rows);
    add_batch_within_limit(error, cpu, published, published.table_4.cpu);
    add_batch_within_limit(error, gpu, published, published.table_4.gpu);
    add_ratios(error, cpu, gpu, published, cpu_rows, gpu_rows);
    return error;
}

std::optional<ErrorSummary> summarize(std::span<const BaselineErrorRow> rows, std::string_view baseline) {
    ErrorSummary summary{
        .least = std::numeric_limits<double>::infinity(), .mean = 0, .most = 0, .held_out_mean = {}};
    int count = 0;
    int held_out_count = 0;
    double held_out = 0.0;
    for (const BaselineErrorRow& row : rows) {
        if (!baseline.empty() && row.baseline != baseline) continue;
        const double error = std::abs(row.error);
        summary.least = std::min(summary.least, error);
        summary.most = std::max(summary.most, error);
        summary.mean += error;
        ++count;
        if (!row.held_out_error) continue;
        held_out += std::abs(*row.held_out_error);
        ++held_out_count;
    }
    if (count == 0) return std::nullopt;
    summary.mean /= count;
    if (held_out_count > 0) summary.held_out_mean = held_out / held_out_count;
    return summary;
}

}  // namespace systole::validate

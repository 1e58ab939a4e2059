#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using baselines::Baseline;
using baselines::Expected;
using baselines::expected_at;

const char* key_of(Processor processor) {
    return processor == Processor::Cpu ? "cpu" : "gpu";
}

std::uint32_t batch_of_point(const Published& published, Processor processor, std::size_t workload) {
    constexpr double weight_bytes = 4.0;
    if (workload == MLP0) {
        return published.count(fmt::format("table_4.{}.within_limit.batch", key_of(processor)));
    }
    const bool cpu = processor == Processor::Cpu;
    const char* const places =
        cpu ? "figure_6_places.macs_per_weight_byte" : "figure_7_places.macs_per_weight_byte";
    const double uses_a_byte = published.workloads("table_1.macs_per_weight_byte")[workload] /
                               published.workloads("table_1.batch")[workload];
    return static_cast<std::uint32_t>(
        std::llround(published.workloads(places)[workload] * weight_bytes / uses_a_byte));
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

/// The errors of one baseline's figures.
class BaselineRows {
public:
    BaselineRows(const Baseline& baseline, const Published& published, Processor processor)
        : baseline_(baseline),
          published_(published),
          processor_(processor),
          rows_(published_throughput(published, processor)) {
        if (baseline.efficiency.known()) return;
        throw machine::ConfigError(fmt::format(
            "{}: efficiency is missing; without it nothing can be expected of it", baseline.name));
    }

    void add_throughput(std::vector<BaselineErrorRow>& errors) const {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const PublishedThroughput& row = rows_[i];
            std::vector<PublishedThroughput> others = rows_;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            Baseline held_out = baseline_;
            held_out.efficiency = fit_efficiency(baseline_, others);
            const char* const unit = row.measure == Measure::TeraOps ? "TOPS" : "inf/s";
            BaselineErrorRow error = error_of(row, unit, row.value, ours(baseline_, row));
            error.held_out_error = ours(held_out, row) / row.value - 1.0;
            errors.push_back(error);
        }
    }

    void add_latency(std::vector<BaselineErrorRow>& errors) const {
        for (const PublishedThroughput& row : rows_) {
            const Expected expected = *expected_at(baseline_, row.network, row.batch);
            if (!(row.latency_ms > 0.0) || !expected.latency_seconds) continue;
            errors.push_back(error_of(row, "ms", row.latency_ms, *expected.latency_seconds * 1e3));
        }
    }

    /// The number of inferences that MLP0 may gather within its limit of latency.
    void add_batch_within_limit(std::vector<BaselineErrorRow>& errors) const {
        const baselines::Network mlp0 = evenly_shared(published_, MLP0);
        const auto expected = baselines::expected_within(baseline_, mlp0, baseline_.efficiency.largest_batch,
                                                         published_.at("table_4.limit_ms") * 1e-3);
        errors.push_back(
            {.source = "Table 4",
             .baseline = baseline_.name,
             .workload = mlp0.name,
             .unit = "batch",
             .published = published_.at(fmt::format("table_4.{}.within_limit.batch", key_of(processor_))),
             .ours = expected ? expected->batch : 0.0});
    }

    /// At the batch of the workload's point in Figure 6 or 7.
    double inferences_per_second(std::size_t workload) const {
        const PublishedThroughput& row = rows_.at(workload);
        return expected_at(baseline_, row.network, row.batch)->inferences_per_second;
    }

private:
    static double ours(const Baseline& baseline, const PublishedThroughput& row) {
        return value_of(*expected_at(baseline, row.network, row.batch), row.measure);
    }

    BaselineErrorRow error_of(const PublishedThroughput& row, const char* unit, double published,
                              double ours) const {
        return {.source = row.source,
                .baseline = baseline_.name,
                .workload = row.network.name,
                .batch = row.batch,
                .unit = unit,
                .published = published,
                .ours = ours};
    }

    const Baseline& baseline_;
    const Published& published_;
    const Processor processor_;
    const std::vector<PublishedThroughput> rows_;
};

}  // namespace

baselines::Network evenly_shared(const Published& published, std::size_t workload) {
    const auto of_table_1 = [&](const char* key) {
        return published.workloads(fmt::format("table_1.{}", key))[workload];
    };
    const auto weight_layers =
        static_cast<std::uint64_t>(of_table_1("fully_connected") + of_table_1("convolution"));
    const auto other_layers = static_cast<std::uint64_t>(of_table_1("vector") + of_table_1("pool"));
    const double weights = of_table_1("weights_millions") * 1e6;
    const auto all_weights = static_cast<std::uint64_t>(std::llround(weights));
    const auto all_macs = static_cast<std::uint64_t>(
        std::llround(weights * of_table_1("macs_per_weight_byte") / of_table_1("batch")));

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
        const std::string path = fmt::format("table_4.{}.{}", key_of(processor), row);
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

std::optional<double> fit_latency_factor(std::span<const PublishedThroughput> rows) {
    double logarithms = 0.0;
    int count = 0;
    for (const PublishedThroughput& row : rows) {
        if (!(row.latency_ms > 0.0) || row.measure != Measure::InferencesPerSecond) continue;
        const double batch_ms = 1e3 * row.batch / row.value;
        logarithms += std::log(row.latency_ms / batch_ms);
        ++count;
    }
    if (count == 0) return std::nullopt;
    return std::exp(logarithms / count);
}

BaselineErrors baseline_errors(const Baseline& cpu, const Baseline& gpu, const Published& published) {
    const BaselineRows cpu_rows(cpu, published, Processor::Cpu);
    const BaselineRows gpu_rows(gpu, published, Processor::Gpu);
    BaselineErrors errors;
    for (const BaselineRows* rows : {&cpu_rows, &gpu_rows}) {
        rows->add_throughput(errors.throughput);
        rows->add_latency(errors.latency);
        rows->add_batch_within_limit(errors.batch);
    }
    for (std::size_t i = 0; i < workload_count; ++i) {
        errors.ratio.push_back(
            {.source = "Table 6",
             .baseline = gpu.name + " / " + cpu.name,
             .workload = std::string(workload_names[i]),
             .unit = "ratio",
             .published = published.table_6(GpuOverCpu)[i],
             .ours = gpu_rows.inferences_per_second(i) / cpu_rows.inferences_per_second(i)});
    }
    return errors;
}

std::optional<ErrorSummary> summarize(std::span<const BaselineErrorRow> rows, std::string_view baseline) {
    ErrorSummary summary{.least = std::numeric_limits<double>::infinity()};
    int count = 0;
    int held_out_count = 0;
    double held_out = 0.0;
    for (const BaselineErrorRow& row : rows) {
        if (!baseline.empty() && row.baseline != baseline) continue;
        const double error = std::abs(row.error());
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

#include "sim/baselines/model_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "hw/machine/config_error.h"
#include "sim/baselines/expected.h"

namespace systole::baselines {
namespace {

using published::Measure;
using published::Platform;

double value_of(const Expected& expected, Measure measure) {
    switch (measure) {
        case Measure::TeraOps:
            return expected.tops;
        case Measure::InferencesPerSecond:
            return expected.inferences_per_second;
    }
    throw std::logic_error("a measure that does not exist");
}

const char* unit_of(Measure measure) {
    switch (measure) {
        case Measure::TeraOps:
            return "TeraOps/s";
        case Measure::InferencesPerSecond:
            return "inf/s";
    }
    throw std::logic_error("a measure that does not exist");
}

/// A row at some shares of peak and memory, where launching layers costs nothing; what that costs comes on
/// top.
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

void add_throughput(ModelError& error, const Baseline& baseline, std::span<const PublishedThroughput> rows) {
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

void add_latency(ModelError& error, const Baseline& baseline, std::span<const PublishedThroughput> rows) {
    for (const PublishedThroughput& row : rows) {
        const Expected ours = *expected_at(baseline, row.network, row.batch);
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
void add_batch_within_limit(ModelError& error, const Baseline& baseline,
                            std::span<const PublishedThroughput> rows) {
    const Network& mlp0 = rows.front().network;
    const auto ours = expected_within(baseline, mlp0, baseline.efficiency.largest_batch,
                                      published::latency_limit_ms * 1e-3);
    const double batch = ours ? ours->batch : 0.0;
    error.batch.push_back({.source = "Table 4",
                           .baseline = baseline.name,
                           .workload = mlp0.name,
                           .batch = 0,
                           .unit = "batch within 7 ms",
                           .published = published::batch_within_limit,
                           .ours = batch,
                           .error = batch / published::batch_within_limit - 1.0,
                           .held_out_error = {}});
}

/// The first row of each workload: that of the figure.
const PublishedThroughput& figure_row(std::span<const PublishedThroughput> rows, std::string_view workload) {
    return *std::find_if(rows.begin(), rows.end(),
                         [&](const PublishedThroughput& row) { return row.network.name == workload; });
}

void add_ratios(ModelError& error, const Baseline& haswell, const Baseline& k80,
                std::span<const PublishedThroughput> haswell_rows,
                std::span<const PublishedThroughput> k80_rows) {
    for (std::size_t i = 0; i < published::workloads.size(); ++i) {
        const std::string_view name = published::workloads[i].name;
        const auto rate = [&](const Baseline& baseline, std::span<const PublishedThroughput> rows) {
            const PublishedThroughput& row = figure_row(rows, name);
            return expected_at(baseline, row.network, row.batch)->inferences_per_second;
        };
        const double ours = rate(k80, k80_rows) / rate(haswell, haswell_rows);
        error.ratio.push_back({.source = "Table 6",
                               .baseline = k80.name + " / " + haswell.name,
                               .workload = std::string(name),
                               .batch = 0,
                               .unit = "ratio",
                               .published = published::k80_over_haswell[i],
                               .ours = ours,
                               .error = ours / published::k80_over_haswell[i] - 1.0,
                               .held_out_error = {}});
    }
}

void require_efficiency(const Baseline& baseline) {
    if (baseline.efficiency.known()) return;
    throw machine::ConfigError(
        fmt::format("{}: efficiency is missing; without it nothing can be expected of it", baseline.name));
}

std::string signed_percent(double error) {
    const double rounded = std::round(100.0 * error);
    return rounded == 0.0 ? "0 %" : fmt::format("{:+.0f} %", rounded);
}

std::string rows_text(std::span<const ModelErrorRow> rows) {
    std::string text;
    for (const ModelErrorRow& row : rows) {
        const std::string batch = row.batch > 0 ? fmt::format("{}", row.batch) : "";
        const int digits = row.published < 100.0 ? 2 : 0;
        const std::string line = fmt::format("  {:<9} {:<18.18} {:<6} {:>5} {:>9.{}f} {:>9.{}f} {:>7} {:>8}",
                                             row.source, row.baseline, row.workload, batch, row.published,
                                             digits, row.ours, digits, signed_percent(row.error),
                                             row.held_out_error ? signed_percent(*row.held_out_error) : "");
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

std::string summary_text(std::span<const ModelErrorRow> rows, std::string_view baseline) {
    const std::optional<ErrorSummary> summary = summarize(rows, baseline);
    if (!summary) return {};
    std::string text = fmt::format("  {:<24.24} off by {:.0f} to {:.0f} %, mean {:.0f} %", baseline,
                                   100.0 * summary->least, 100.0 * summary->most, 100.0 * summary->mean);
    if (summary->held_out_mean) text += fmt::format("; held out {:.0f} %", 100.0 * *summary->held_out_mean);
    return text + '\n';
}

/// The names in the rows, each once, in order.
std::vector<std::string> baselines_in(std::span<const ModelErrorRow> rows) {
    std::vector<std::string> names;
    for (const ModelErrorRow& row : rows) {
        if (std::find(names.begin(), names.end(), row.baseline) == names.end()) names.push_back(row.baseline);
    }
    return names;
}

nlohmann::ordered_json rows_json(std::span<const ModelErrorRow> rows) {
    auto array = nlohmann::ordered_json::array();
    for (const ModelErrorRow& row : rows) {
        nlohmann::ordered_json object{{"source", row.source},       {"baseline", row.baseline},
                                      {"workload", row.workload},   {"unit", row.unit},
                                      {"published", row.published}, {"ours", row.ours},
                                      {"error", row.error}};
        if (row.batch > 0) object["batch"] = row.batch;
        if (row.held_out_error) object["held_out_error"] = *row.held_out_error;
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace

std::vector<PublishedThroughput> published_throughput(Platform platform, std::span<const Network> networks) {
    std::vector<PublishedThroughput> found;
    for (const published::Row& row : published::rows()) {
        if (row.platform != platform) continue;
        const auto given = std::find_if(networks.begin(), networks.end(),
                                        [&](const Network& network) { return network.name == row.workload; });
        found.push_back({.source = std::string(row.source),
                         .network = given != networks.end()
                                        ? *given
                                        : published::network_of(published::workload(row.workload)),
                         .batch = row.batch,
                         .measure = row.measure,
                         .value = row.value,
                         .latency_ms = row.latency_ms});
    }
    return found;
}

Efficiency fit_efficiency(const Baseline& baseline, std::span<const PublishedThroughput> rows) {
    if (rows.empty()) throw std::logic_error("an efficiency is fitted to at least one row");
    Baseline tried = baseline;
    tried.efficiency.layer_microseconds = 0.0;
    Efficiency best;
    double least = std::numeric_limits<double>::infinity();
    constexpr double same = 1e-9;  // what differs less is a matter of rounding
    for (int memory = 100; memory >= 5; memory -= 5) {
        for (int peak = 100; peak >= 1; --peak) {
            tried.efficiency.peak_share = peak / 100.0;
            tried.efficiency.memory_share = memory / 100.0;
            const std::vector<Unlaunched> unlaunched = without_launches(tried, rows);
            for (int layer = 0; layer <= 400; layer += 5) {
                const double sum = sum_of_squares(unlaunched, layer);
                if (sum < least - same) {
                    least = sum;
                    best = tried.efficiency;
                    best.layer_microseconds = layer;
                }
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

ModelError model_error(const Baseline& haswell, const Baseline& k80, std::span<const Network> networks) {
    require_efficiency(haswell);
    require_efficiency(k80);
    const auto haswell_rows = published_throughput(Platform::Haswell, networks);
    const auto k80_rows = published_throughput(Platform::K80, networks);
    ModelError error;
    add_throughput(error, haswell, haswell_rows);
    add_throughput(error, k80, k80_rows);
    add_latency(error, haswell, haswell_rows);
    add_latency(error, k80, k80_rows);
    add_batch_within_limit(error, haswell, haswell_rows);
    add_batch_within_limit(error, k80, k80_rows);
    add_ratios(error, haswell, k80, haswell_rows, k80_rows);
    return error;
}

std::optional<ErrorSummary> summarize(std::span<const ModelErrorRow> rows, std::string_view baseline) {
    ErrorSummary summary{
        .least = std::numeric_limits<double>::infinity(), .mean = 0, .most = 0, .held_out_mean = {}};
    int count = 0;
    int held_out_count = 0;
    double held_out = 0.0;
    for (const ModelErrorRow& row : rows) {
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

std::string to_text(const ModelError& error) {
    std::string text = fmt::format("  {:<9} {:<18} {:<6} {:>5} {:>9} {:>9} {:>7} {:>8}\n", "source",
                                   "baseline", "", "batch", "published", "ours", "error", "held out");
    const auto part = [&](const char* title, std::span<const ModelErrorRow> rows) {
        if (rows.empty()) return;
        text += fmt::format("{}\n{}", title, rows_text(rows));
        for (const std::string& name : baselines_in(rows)) text += summary_text(rows, name);
    };
    part("Throughput (TeraOps/s in figures, inf/s in tables)", error.throughput);
    part("99th percentile of latency, ms", error.latency);
    part("The largest batch within 7 ms", error.batch);
    part("Performance of a die over a Haswell die", error.ratio);
    return text;
}

nlohmann::ordered_json to_json(const ModelError& error) {
    const auto part = [](std::span<const ModelErrorRow> rows) {
        nlohmann::ordered_json object{{"rows", rows_json(rows)}};
        for (const std::string& name : baselines_in(rows)) {
            const ErrorSummary summary = *summarize(rows, name);
            nlohmann::ordered_json& entry = object["summary"][name];
            entry = {{"least", summary.least}, {"mean", summary.mean}, {"most", summary.most}};
            if (summary.held_out_mean) entry["held_out_mean"] = *summary.held_out_mean;
        }
        return object;
    };
    return {{"throughput", part(error.throughput)},
            {"latency", part(error.latency)},
            {"batch_within_7_ms", part(error.batch)},
            {"k80_over_haswell", part(error.ratio)}};
}

}  // namespace systole::baselines

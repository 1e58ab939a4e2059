#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/baselines/baseline.h"
#include "sim/baselines/network.h"
#include "sim/baselines/published.h"

namespace systole::baselines {

/// A published figure beside what the model makes of it.
struct ModelErrorRow {
    std::string source;
    std::string baseline;  ///< whose, or "k80 / haswell_..." for a ratio of two
    std::string workload;
    std::uint32_t batch = 0;  ///< 0 for ratios, whose parts have batches of their own, and for batches
    std::string unit;         ///< "TeraOps/s", "inf/s", "ms", "batch within 7 ms", "ratio"
    double published = 0.0;
    double ours = 0.0;
    double error = 0.0;  ///< ours / published - 1
    /// The same where the efficiency is fitted to the other rows of the baseline; absent of what is not
    /// fitted.
    std::optional<double> held_out_error;
};

/// Absolute errors of some rows.
struct ErrorSummary {
    double least = 0.0;
    double mean = 0.0;
    double most = 0.0;
    std::optional<double> held_out_mean;
};

/// The efficiency model held against what is published.
struct ModelError {
    std::vector<ModelErrorRow> throughput;  ///< Figures 6 and 7, Table 4: what the efficiency is fitted to
    std::vector<ModelErrorRow> latency;     ///< Table 4: what latency_factor is fitted to
    std::vector<ModelErrorRow> batch;       ///< Table 4: MLP0's within 7 ms, fitted to nothing
    std::vector<ModelErrorRow> ratio;       ///< Table 6, fitted to nothing
};

/// One figure to hold a baseline against, or to fit it to.
struct PublishedThroughput {
    std::string source;
    Network network;
    std::uint32_t batch = 0;
    published::Measure measure = published::Measure::InferencesPerSecond;
    double value = 0.0;
    double latency_ms = 0.0;  ///< 99th percentile; 0: not published
};

/// Those of published::rows() that are the platform's. `networks` takes the place of the evenly shared ones
/// of the same name.
std::vector<PublishedThroughput> published_throughput(published::Platform platform,
                                                      std::span<const Network> networks = {});

/// The three numbers of an efficiency (peak_share in steps of 0.01, memory_share of 0.05, layer_microseconds
/// of 5 up to 400) with the least sum of squared logarithms of ours / published; the rest stays as in the
/// baseline. Of equals the one nearest to the hardware's limits. Every row counts the same. At least one row.
Efficiency fit_efficiency(const Baseline& baseline, std::span<const PublishedThroughput> rows);

/// The geometric mean of published latency over published time of a batch; absent where no row has a latency
/// and inferences/s.
std::optional<double> fit_latency_factor(std::span<const PublishedThroughput> rows);

/// Both baselines, with the efficiencies that their files give, against ISCA 2017. Throws ConfigError where a
/// baseline has no efficiency. `networks` as in published_throughput.
ModelError model_error(const Baseline& haswell, const Baseline& k80, std::span<const Network> networks = {});

/// Of one baseline's rows, or of all where the name is empty. Absent where there are none.
std::optional<ErrorSummary> summarize(std::span<const ModelErrorRow> rows, std::string_view baseline = {});

/// A table of 80 columns.
std::string to_text(const ModelError& error);
nlohmann::ordered_json to_json(const ModelError& error);

}  // namespace systole::baselines

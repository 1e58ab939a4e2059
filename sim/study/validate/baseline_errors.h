#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/study/validate/published.h"

/// The errors of the efficiency models of CPU and GPU against published figures.
namespace systole::validate {

/// A published figure and the model's figure.
struct BaselineErrorRow {
    std::string source;
    std::string baseline;  ///< whose, or "k80 / haswell_..." for a ratio of two
    std::string workload;
    std::uint32_t batch = 0;  ///< 0 for ratios, whose parts have batches of their own, and for batches
    std::string unit;         ///< "TOPS", "inf/s", "ms", "batch", "ratio"
    double published = 0.0;
    double ours = 0.0;
    double error = 0.0;  ///< ours / published - 1
    /// The error with an efficiency that is fitted to the other rows of the baseline; absent for figures that
    /// are not fitted.
    std::optional<double> held_out_error;
};

struct BaselineErrors {
    std::vector<BaselineErrorRow> throughput;  ///< Figures 6 and 7, Table 4: what the efficiency is fitted to
    std::vector<BaselineErrorRow> latency;     ///< Table 4: what latency_factor is fitted to
    std::vector<BaselineErrorRow> batch;       ///< Table 4: MLP0's within its limit, fitted to nothing
    std::vector<BaselineErrorRow> ratio;       ///< Table 6: GPU over CPU, fitted to nothing
};

/// Both baselines, with the efficiencies that their files give. Throws ConfigError where one has none.
BaselineErrors baseline_errors(const baselines::Baseline& cpu, const baselines::Baseline& gpu,
                               const Published& published);

/// Absolute errors of some rows.
struct ErrorSummary {
    double least = 0.0;
    double mean = 0.0;
    double most = 0.0;
    std::optional<double> held_out_mean;
};

/// The errors of one baseline's rows, or of all rows if the name is empty. Absent if there are no rows.
std::optional<ErrorSummary> summarize(std::span<const BaselineErrorRow> rows, std::string_view baseline = {});

}  // namespace systole::validate

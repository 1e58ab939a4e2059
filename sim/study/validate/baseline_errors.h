#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/baselines/expected.h"
#include "sim/run/baselines/fit_efficiency.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/setup.h"

/// The efficiency models of CPU and GPU: fitted to published figures, and compared with them.
namespace systole::validate {

/// A published figure of one die.
struct PublishedThroughput {
    const BaselinePoint* point = nullptr;
    baselines::KnownThroughput known;
    double latency_ms = 0.0;  ///< 99th percentile; 0: not published
};

/// The points of a baseline of the target, in the order of its file. Throws ConfigError.
std::vector<PublishedThroughput> published_throughput(const Setup& setup, const std::string& baseline,
                                                      Formulas& formulas);

/// A network whose multiply-accumulates and weights are divided equally among its layers with weights,
/// because only their sums are published; the first layer has the remainders. Activations are not published:
/// the model assumes that they stay on the die. Throws ConfigError.
baselines::Network evenly_shared(const Setup& setup, const std::string& name, Formulas& formulas);

/// A published figure and the model's figure.
struct BaselineErrorRow {
    std::string source;
    std::string baseline;  ///< its name, or "k80 / haswell_..." for a ratio of two
    std::string label;     ///< its name up to the first "_", or "GPU/CPU"
    std::string workload;
    std::uint32_t batch = 0;  ///< 0 for ratios, whose parts have batches of their own, and for batches
    std::string unit;         ///< "TOPS", "inf/s", "ms", "batch", "ratio"
    double published = 0.0;
    double ours = 0.0;
    /// The error with an efficiency that is fitted to the other rows of the baseline; absent for figures that
    /// are not fitted.
    std::optional<double> left_out_error = {};

    double error() const { return ours / published - 1.0; }
};

struct BaselineErrors {
    std::vector<BaselineErrorRow> throughput;  ///< the points: the efficiency is fitted to them
    std::vector<BaselineErrorRow> latency;     ///< of the points: latency_factor is fitted to them
    std::vector<BaselineErrorRow> batch;       ///< within a limit of latency; nothing is fitted to it
    std::vector<BaselineErrorRow> ratio;       ///< of one baseline over another; nothing is fitted to it
};

/// All baselines of the target, with the efficiencies that their files give. Throws ConfigError if one has
/// none.
BaselineErrors baseline_errors(const Setup& setup, Formulas& formulas);

/// The models' numbers: BASELINE.NAME of each point with a name, in its unit, and BASELINE.expected.MODEL,
/// inferences a second of each model of the list `workloads` at its batch, or at the largest that keeps the
/// baseline's limit of latency. Throws ConfigError.
void know_baselines(const Setup& setup, Formulas& formulas);

}  // namespace systole::validate

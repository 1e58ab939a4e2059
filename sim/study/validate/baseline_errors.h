#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/expected.h"
#include "sim/run/baselines/fit_efficiency.h"
#include "sim/study/validate/published.h"

/// The efficiency models of CPU and GPU: fitted to published figures, and compared with them.
namespace systole::validate {

/// Where the figures of a processor are published.
struct Processor {
    std::string_view key;  ///< in table_4
    int figure = 0;        ///< number of its roofline
};
inline constexpr Processor cpu_die{"cpu", 6};
inline constexpr Processor gpu_die{"gpu", 7};

/// A published figure of one die.
struct PublishedThroughput {
    std::string source;  ///< "Figure 6", "Table 4", ...
    std::string unit;    ///< "TOPS" (a multiply-accumulate counts as two operations), "inf/s"
    baselines::KnownThroughput known;
    double latency_ms = 0.0;  ///< 99th percentile; 0: not published
};

/// The processor's points of Figure 6 or 7, in the order of the workloads, then its rows of Table 4.
///
/// The place of a point, in multiply-accumulates per weight byte, gives the batch, with weights of 4 bytes.
/// MLP0 is an exception: its batch is Table 4's within the limit of latency, whose 5,482 inferences/s on the
/// CPU are Figure 6's 0.2 TeraOps/s, though the figure draws the point at the place of a batch of 32.
std::vector<PublishedThroughput> published_throughput(const Published& published, const Processor& processor);

/// The workload with its weights divided equally among its layers, because only their sum is published. The
/// TPU's batch and its multiply-accumulates per weight byte give the number of uses of each weight.
/// Activations are not published; the model assumes that they stay on the die.
baselines::Network evenly_shared(const Published& published, std::size_t workload);

/// A published figure and the model's figure.
struct BaselineErrorRow {
    std::string source;
    std::string baseline;  ///< its name, or "k80 / haswell_..." for a ratio of two
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
    std::vector<BaselineErrorRow> throughput;  ///< Figures 6 and 7, Table 4: the efficiency is fitted to them
    std::vector<BaselineErrorRow> latency;     ///< Table 4: latency_factor is fitted to them
    std::vector<BaselineErrorRow> batch;       ///< Table 4: MLP0's within its limit; nothing is fitted to it
    std::vector<BaselineErrorRow> ratio;       ///< Table 6: GPU over CPU; nothing is fitted to it
};

/// Both baselines, with the efficiencies that their files give. Throws ConfigError if one has none.
BaselineErrors baseline_errors(const baselines::Baseline& cpu, const baselines::Baseline& gpu,
                               const Published& published);

}  // namespace systole::validate

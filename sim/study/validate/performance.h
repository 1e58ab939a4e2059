#pragma once

#include <array>
#include <optional>

#include "sim/study/validate/results.h"

/// Performance per die and per watt against CPU and GPU: their side published, the TPU's ours.
namespace systole::validate {

/// By Ratio: GPU/CPU as published; TPU over the others as published, times our throughput of the TPU over the
/// published one. Both throughputs go with row 2 of Table 3 (useful MACs of the peak), and the host's share,
/// which Table 6 includes, is in numerator and denominator.
struct RelativePerformance {
    std::array<ByWorkload<double>, 3> published{};
    std::array<ByWorkload<double>, 3> ours{};
};
RelativePerformance relative_performance(const Results& results);

/// Table 5: the host's time, as a fraction of the TPU's, on top of it.
double host_share(const Published& published, std::size_t workload);

/// Inferences a second with the host's share of Table 5 on top of our chip's time.
double inferences_per_second_with_host(const Results& results, std::size_t workload);

/// Speed-up of a faster chip when the host takes as long as before: Table 5's share of the slower chip's time
/// on top of both.
ByWorkload<double> with_host_time(const ByWorkload<double>& speedup, const Published& published);

/// Our improved chip is the one with the faster memory alone.
ByWorkload<double> prime_speedup(const Results& results);
ByWorkload<double> prime_speedup_with_host(const Results& results);

enum class Mean : std::uint8_t { Geometric, Weighted };
double mean_of(Mean kind, const Weights& weights, const ByWorkload<double>& values);

/// Performance per watt of one server over another, from a mean of performance per die: dies a server, over
/// thermal design power. Incremental: without the watts of the CPU server that hosts the accelerators.
struct Efficiency {
    double total = 0.0;
    double incremental = 0.0;
};

/// Figure 9: by server ratio, of the geometric and of the weighted mean.
struct ServerEfficiency {
    std::array<Efficiency, server_ratio_names.size()> geometric{};
    std::array<Efficiency, server_ratio_names.size()> weighted{};
};
ServerEfficiency server_efficiency(const Results& results);

/// Figure 9's bars: ours over published, less one; by bar (total GM, total WM, incremental GM, WM).
using EfficiencyErrors = std::array<std::array<double, server_ratio_names.size()>, 4>;
EfficiencyErrors efficiency_errors(const Results& results);

}  // namespace systole::validate

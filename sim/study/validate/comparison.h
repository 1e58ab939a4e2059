#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "sim/study/validate/validate.h"
#include "sim/view/table/table.h"

/// What is computed from published and simulated figures together: means, performance per die and per watt,
/// watts against load, and errors.
namespace systole::validate {

/// MLP0's part of the weight of the two MLPs. Not published: it is the part with which the weighted mean of a
/// row of Table 6 results from the row's six ratios.
double mlp0_part(const Published& published, Ratio row);
/// The mean by the first two rows, which is used.
double mlp0_part(const Published& published);

/// Weights by deployment (Table 1): the share of a pair is published, MLP0's part of its pair follows from
/// Table 6, and the other pairs are split evenly. Divided by their sum, as the pairs are not all that is
/// deployed.
ByWorkload<double> weights_of(const Published& published);
/// The same with another part for MLP0.
ByWorkload<double> weights_of(const Published& published, double mlp0_part);

double weighted_mean(const ByWorkload<double>& weights, const ByWorkload<double>& values);
double arithmetic_mean(std::span<const double> values);
/// Of positive values.
double geometric_mean(const ByWorkload<double>& values);

/// The factors of the workloads, then their geometric and weighted mean.
Cells factors_and_means(const ByWorkload<double>& factors, const ByWorkload<double>& weights, int digits);

/// Mean absolute difference of a row of Table 3 (by index into table_3_rows), in points.
double table_3_difference(std::size_t row, const Published& published,
                          const ByWorkload<run::RunRecord>& records);

/// Performance per die: GPU/CPU as published; TPU over the others as published, times our throughput of the
/// TPU over the published one. Both throughputs are proportional to row 2 of Table 3, and the host's share,
/// which Table 6 includes, is in numerator and denominator.
ByWorkload<double> relative_performance(const Results& results, Ratio ratio);

/// Performance per die by models alone, nothing inherited: our chip's throughput with the host's time of
/// Table 5, over those of the baselines' efficiency models.
ByWorkload<double> modelled_performance(const Results& results, Ratio ratio);

/// Table 5: the host's time, as a fraction of the TPU's, in addition to it.
double host_share(const Published& published, std::size_t workload);

/// Inferences per second with the host's share of Table 5 in addition to our chip's time.
ByWorkload<double> inferences_per_second_with_host(const Results& results);

/// Speed-up of a faster chip when the host takes as long as before: Table 5's share of the slower chip's time
/// in addition to both.
ByWorkload<double> with_host_time(const ByWorkload<double>& speedup, const Published& published);

/// Our improved chip is the one with the faster memory alone.
ByWorkload<double> prime_speedup(const Results& results);

/// The bars of Figure 9, performance per watt of servers, in the order of efficiency_keys and
/// server_ratio_names.
enum Bar : std::size_t { TotalGm, TotalWm, IncrementalGm, IncrementalWm };
using EfficiencyBars = std::array<std::array<double, server_ratio_names.size()>, efficiency_keys.size()>;
/// baselines::performance_per_watt, from a mean of performance per die. Throws ConfigError for published
/// watts from which it does not follow.
EfficiencyBars server_efficiency(const Results& results);
/// Ours over published, minus 1.
EfficiencyBars efficiency_errors(const Results& results);

/// Figure 10, ours. The TPU's watts follow from its simulated events, those of CPU and GPU from their
/// published idle and busy watts (configs/baselines), in proportion to load. CPU: a die's part of its server,
/// memory included. With host: with the die's part of the CPU server, as busy as the text of Figure 10 says.
/// `workload` runs on the TPU; nothing is known about the workloads of the others.
Watts watts(const Results& results, PowerCurve curve, Workload workload);

/// Throws ConfigError for a baseline that lacks the watts of the curves.
void require_watts(const baselines::Baseline& cpu, const baselines::Baseline& gpu);

/// The points of Figure 11's curves: ours over published, minus 1.
using SensitivityErrors = std::array<std::array<double, scales.size()>, curve_names.size()>;
SensitivityErrors sensitivity_errors(const Published& published, const ByWorkload<double>& weights,
                                     const Sensitivity& ours);

/// The largest absolute value in a table of errors.
double largest(const auto& rows) {
    double most = 0.0;
    for (const auto& row : rows) {
        for (const double error : row) most = std::max(most, std::abs(error));
    }
    return most;
}

}  // namespace systole::validate

#pragma once

#include <optional>
#include <span>

#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/expected.h"
#include "sim/study/validate/baseline_rows.h"

/// A baseline's efficiency, fitted to what is published of it.
namespace systole::validate {

/// The three numbers of an efficiency (peak_share in steps of 0.01, memory_share of 0.05, layer_microseconds
/// of 5 up to 400) with the least sum of squared logarithms of ours / published; the rest stays as in the
/// baseline. Of equals the one nearest to the hardware's limits. Every row counts the same. At least one row.
baselines::Efficiency fit_efficiency(const baselines::Baseline& baseline,
                                     std::span<const PublishedThroughput> rows);

/// The geometric mean of published latency over published time of a batch; absent where no row has a latency
/// and inferences/s.
std::optional<double> fit_latency_factor(std::span<const PublishedThroughput> rows);

/// What is expected, in the unit that the row was published in.
double value_of(const baselines::Expected& expected, Measure measure);

}  // namespace systole::validate

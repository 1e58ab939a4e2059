#pragma once

#include <cstdint>
#include <span>

#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/expected.h"

namespace systole::baselines {

/// A throughput that one die is known to reach.
struct KnownThroughput {
    Network network;
    std::uint32_t batch = 0;
    double Expected::*figure = &Expected::inferences_per_second;  ///< the same quantity of the model
    double value = 0.0;
};

/// The three numbers of an efficiency (peak_share in steps of 0.01, memory_share of 0.05, layer_microseconds
/// of 5 up to 400) with the least sum of squared logarithms of model / known; the rest stays as in the
/// baseline. Of equals the one nearest to the limits of the hardware. Every row counts the same. At least one
/// row, with a value above 0.
Efficiency fit_efficiency(const Baseline& baseline, std::span<const KnownThroughput> rows);

}  // namespace systole::baselines

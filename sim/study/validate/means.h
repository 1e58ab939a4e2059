#pragma once

#include "sim/study/validate/published.h"

/// Means over the workloads, as the article takes them.
namespace systole::validate {

/// The shares of the six in a weighted mean; they sum to 1.
using Weights = ByWorkload<double>;

/// How much of the weight of MLPs is MLP0's. Not published: it is the split with which Table 6's weighted
/// means come out of its six ratios, by each of its first two rows, and their mean, which is used.
struct MlpSplit {
    double by_gpu_over_cpu = 0.0;
    double by_tpu_over_cpu = 0.0;

    double used() const { return (by_gpu_over_cpu + by_tpu_over_cpu) / 2.0; }
};
MlpSplit mlp_split(const Published& published);

/// By deployment (Table 1): a pair's share is published, MLP0's of its pair follows from Table 6, and the
/// other pairs are split evenly. Divided by their sum, as the pairs are not all that is deployed.
Weights weights_of(const Published& published);

double weighted_mean(const Weights& weights, const ByWorkload<double>& values);
/// Of positive values.
double geometric_mean(const ByWorkload<double>& values);

}  // namespace systole::validate

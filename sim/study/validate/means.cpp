#include "sim/study/validate/means.h"

#include <algorithm>
#include <cmath>

namespace systole::validate {
namespace {

/// The split with which a row's weighted mean is the published one.
double split_by(const Published& published, Ratio row) {
    const PerPair& pairs = published.table_1.deployed_percent;
    const PerWorkload& ratios = published.table_6.ratios[row];
    const double sum = pairs[0] + pairs[1] + pairs[2];
    const double others =
        pairs[1] * (ratios[LSTM0] + ratios[LSTM1]) / 2.0 + pairs[2] * (ratios[CNN0] + ratios[CNN1]) / 2.0;
    const double mlps = (published.table_6.weighted_mean[row] * sum - others) / pairs[0];
    return std::clamp((mlps - ratios[MLP1]) / (ratios[MLP0] - ratios[MLP1]), 0.0, 1.0);
}

}  // namespace

MlpSplit mlp_split(const Published& published) {
    return {.by_gpu_over_cpu = split_by(published, GpuOverCpu),
            .by_tpu_over_cpu = split_by(published, TpuOverCpu)};
}

Weights weights_of(const Published& published) {
    const PerPair& pairs = published.table_1.deployed_percent;
    const double sum = pairs[0] + pairs[1] + pairs[2];
    const double mlp0 = mlp_split(published).used();
    Weights weights{};
    weights[MLP0] = pairs[0] * mlp0 / sum;
    weights[MLP1] = pairs[0] * (1.0 - mlp0) / sum;
    weights[LSTM0] = weights[LSTM1] = pairs[1] / 2.0 / sum;
    weights[CNN0] = weights[CNN1] = pairs[2] / 2.0 / sum;
    return weights;
}

double weighted_mean(const Weights& weights, const ByWorkload<double>& values) {
    double mean = 0.0;
    for (std::size_t i = 0; i < workload_count; ++i) mean += weights[i] * values[i];
    return mean;
}

double geometric_mean(const ByWorkload<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(workload_count));
}

}  // namespace systole::validate

#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/graph.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/record/record.h"

namespace systole::baselines {

/// The work of a network, for any processor, layer by layer.
using Network = run::NetworkWork;
using NetworkLayer = run::LayerWork;

/// The work of a graph, by layer. A node without multiply-accumulates that computes one
/// element from each element of its only input (an activation function, a batch normalization, a reshape)
/// counts as part of the layer before it, because frameworks fuse the two.
Network network_of(const ir::Graph& graph);

/// The speed that a network is expected to reach on a baseline, by the baseline's efficiency model.
struct Expected {
    std::uint32_t batch = 0;
    double seconds = 0.0;  ///< of a batch
    double inferences_per_second = 0.0;
    double tops = 0.0;  ///< 10^12 operations a second, a multiply-accumulate counting two
    // The parts of the batch's time; they sum to it.
    double compute_seconds = 0.0;  ///< layers whose arithmetic takes longer than their memory traffic
    double memory_seconds = 0.0;   ///< the others
    double layer_seconds = 0.0;    ///< launching layers
    std::optional<double> latency_seconds;  ///< 99th percentile; absent if the baseline has no factor
};

/// One die at this batch, which may exceed the baseline's largest batch:
///
///     seconds(B) = sum over the layers of max(compute, memory) + layer_microseconds
///     compute    = 2 * macs * B / (peak * peak_share)
///     memory     = (weights + activations * B) * bytes / (bandwidth * memory_share)
///     latency    = latency_factor * seconds(B)
///
/// Activations of a batch that fit the memory on the die stay there and cost no traffic. Peak and bytes
/// are those of the precision. Absent if the baseline has no efficiency or the network no work. The batch
/// is at least 1.
std::optional<Expected> expected_at(const Baseline& baseline, const Network& network, std::uint32_t batch);

/// The same at the smaller of `most` and the baseline's largest batch.
std::optional<Expected> expected(const Baseline& baseline, const Network& network, std::uint32_t most);

/// The same at the largest batch whose latency is at most `limit_seconds`. Absent if a single inference
/// already exceeds the limit, or if the baseline has no latency factor.
std::optional<Expected> expected_within(const Baseline& baseline, const Network& network, std::uint32_t most,
                                        double limit_seconds);

}  // namespace systole::baselines

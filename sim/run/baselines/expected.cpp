#include "sim/run/baselines/expected.h"

#include <algorithm>
#include <stdexcept>

#include "sim/run/baselines/comparison.h"

namespace systole::baselines {

std::optional<Expected> expected_at(const Baseline& baseline, const Network& network, std::uint32_t batch) {
    if (batch == 0) throw std::logic_error("a batch of no inferences");
    const Efficiency& efficiency = baseline.efficiency;
    if (!efficiency.known() || network.macs() == 0) return std::nullopt;
    const Format format = format_of(baseline, efficiency.precision);
    const double operations_per_second = format.operations_per_second * efficiency.peak_share;
    const double bytes_per_second = baseline.memory_gb_per_s * 1e9 * efficiency.memory_share;
    const double on_chip_bytes = baseline.on_chip_mib * 1024.0 * 1024.0;

    Expected result;
    result.batch = batch;
    for (const NetworkLayer& layer : network.layers) {
        const double compute = 2.0 * static_cast<double>(layer.macs) * batch / operations_per_second;
        const double activation_bytes = static_cast<double>(layer.activations) * batch * format.element_bytes;
        double bytes = static_cast<double>(layer.weights) * format.element_bytes;
        if (activation_bytes > on_chip_bytes) bytes += activation_bytes;
        const double memory = bytes / bytes_per_second;
        (compute >= memory ? result.compute_seconds : result.memory_seconds) += std::max(compute, memory);
        result.layer_seconds += efficiency.layer_microseconds * 1e-6;
    }
    result.seconds = result.compute_seconds + result.memory_seconds + result.layer_seconds;
    result.inferences_per_second = batch / result.seconds;
    result.tops = 2.0 * static_cast<double>(network.macs()) * result.inferences_per_second / 1e12;
    if (efficiency.latency_factor > 0.0) result.latency_seconds = efficiency.latency_factor * result.seconds;
    return result;
}

std::optional<Expected> expected(const Baseline& baseline, const Network& network, std::uint32_t most) {
    const std::uint32_t largest = baseline.efficiency.largest_batch;
    return expected_at(baseline, network, largest > 0 ? std::min(most, largest) : most);
}

std::optional<Expected> expected_within(const Baseline& baseline, const Network& network, std::uint32_t most,
                                        double limit_seconds) {
    const auto keeps = [&](const std::optional<Expected>& result) {
        return result && result->latency_seconds && *result->latency_seconds <= limit_seconds;
    };
    std::optional<Expected> largest = expected(baseline, network, most);
    if (keeps(largest)) return largest;
    std::optional<Expected> result = expected_at(baseline, network, 1);
    if (!keeps(result)) return std::nullopt;
    // A larger batch never takes less time, so the largest batch within the limit is found by bisection.
    std::uint32_t too_large = largest->batch;
    while (too_large - result->batch > 1) {
        const std::uint32_t middle = result->batch + (too_large - result->batch) / 2;
        const std::optional<Expected> tried = expected_at(baseline, network, middle);
        if (keeps(tried)) {
            result = tried;
        } else {
            too_large = middle;
        }
    }
    return result;
}

Network network_of(const ir::Graph& graph) {
    Network network{.name = graph.name, .layers = {}};
    for (const ir::Node& node : graph.nodes) {
        const ir::NodeView view(graph, node);
        const std::size_t inputs = view.data_inputs();
        const std::uint64_t macs = node.op->macs(view);
        const std::uint64_t made = view.output().shape.elements();
        if (macs == 0 && inputs == 1 && view.input().shape.elements() == made) continue;
        std::uint64_t read = 0;
        for (std::size_t i = 0; i < inputs; ++i) read += view.input(i).shape.elements();
        network.layers.push_back(
            {.macs = macs, .weights = ir::weight_count(view), .activations = read + made});
    }
    return network;
}

}  // namespace systole::baselines

#include "sim/baselines/published.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace systole::baselines::published {
namespace {

using enum Measure;
using enum Platform;

// The batch of a row of a figure: operations a weight byte * 4 bytes * weights / MACs of an inference.
constexpr std::array all_rows{
    Row{Haswell, "Figure 6", "MLP0", 16, TeraOps, 0.2, 0},
    Row{Haswell, "Figure 6", "MLP1", 60, TeraOps, 0.5, 0},
    Row{Haswell, "Figure 6", "LSTM0", 64, TeraOps, 1.1, 0},
    Row{Haswell, "Figure 6", "LSTM1", 64, TeraOps, 0.6, 0},
    Row{Haswell, "Figure 6", "CNN0", 8, TeraOps, 0.6, 0},
    Row{Haswell, "Figure 6", "CNN1", 257, TeraOps, 0.3, 0},
    Row{Haswell, "Table 4", "MLP0", 16, InferencesPerSecond, 5482, 7.2},
    Row{Haswell, "Table 4", "MLP0", 64, InferencesPerSecond, 13194, 21.3},
    Row{K80, "Figure 7", "MLP0", 16, TeraOps, 0.7, 0},
    Row{K80, "Figure 7", "MLP1", 60, TeraOps, 0.2, 0},
    Row{K80, "Figure 7", "LSTM0", 64, TeraOps, 0.5, 0},
    Row{K80, "Figure 7", "LSTM1", 80, TeraOps, 0.7, 0},
    Row{K80, "Figure 7", "CNN0", 8, TeraOps, 1.0, 0},
    Row{K80, "Figure 7", "CNN1", 260, TeraOps, 0.9, 0},
    Row{K80, "Table 4", "MLP0", 16, InferencesPerSecond, 13461, 6.7},
    Row{K80, "Table 4", "MLP0", 64, InferencesPerSecond, 36465, 8.3},
};

}  // namespace

std::span<const Row> rows() {
    return all_rows;
}

const Workload& workload(std::string_view name) {
    const auto found = std::find_if(workloads.begin(), workloads.end(),
                                    [&](const Workload& each) { return each.name == name; });
    if (found == workloads.end()) throw std::logic_error("no published workload " + std::string(name));
    return *found;
}

Network network_of(const Workload& workload) {
    const double macs =
        static_cast<double>(workload.weights) * workload.macs_per_weight_byte / workload.batch;
    Network network{.name = std::string(workload.name), .layers = {}};
    // What does not divide evenly goes to the first layer.
    const auto all_macs = static_cast<std::uint64_t>(std::llround(macs));
    for (std::uint32_t i = 0; i < workload.weight_layers; ++i) {
        NetworkLayer layer{.macs = all_macs / workload.weight_layers,
                           .weights = workload.weights / workload.weight_layers,
                           .activations = 0};
        if (i == 0) {
            layer.macs += all_macs % workload.weight_layers;
            layer.weights += workload.weights % workload.weight_layers;
        }
        network.layers.push_back(layer);
    }
    network.layers.resize(workload.weight_layers + workload.other_layers);
    return network;
}

}  // namespace systole::baselines::published

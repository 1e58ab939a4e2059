#include "compiler/mapping/tensor_use.h"

#include <algorithm>

namespace systole::mapping {

std::vector<TensorUse> tensor_uses(const NetworkTensors& network) {
    std::vector<TensorUse> uses(network.tensors);
    for (const TensorId id : network.inputs) uses[id].begins_in_host = true;
    for (const TensorId id : network.outputs) uses[id].is_output = true;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const LayerTensors& layer = network.layers[l];
        for (const TensorId id : layer.inputs) {
            TensorUse& use = uses[id];
            if (!use.readers.empty() && use.readers.back() == l) continue;
            use.readers.push_back(l);
            if (!layer.reads_host_memory) use.chip_readers.push_back(l);
            if (layer.runs_on_host && !use.first_segment) use.first_segment = l;
        }
        for (const TensorId id : layer.outputs) {
            TensorUse& use = uses[id];
            if (!use.maker) use.maker = l;  // several layers may send parts of a tensor
            if (layer.writes_host_memory) use.begins_in_host = true;
        }
    }
    return uses;
}

std::vector<std::uint32_t> last_reading_steps(const NetworkTensors& network,
                                              std::span<const std::uint32_t> computed_with,
                                              std::span<const TensorId> sent) {
    const auto layers = static_cast<std::uint32_t>(network.layers.size());
    std::vector<std::uint32_t> last(network.tensors, 0);
    for (const TensorId id : sent) last[id] = layers + 1;
    // From the last layer on: what reads a view comes behind it.
    for (std::uint32_t l = layers; l-- > 0;) {
        const LayerTensors& layer = network.layers[l];
        const std::uint32_t step = layer.is_view ? last[layer.outputs.front()] : computed_with[l] + 1;
        for (const TensorId input : layer.inputs) last[input] = std::max(last[input], step);
    }
    return last;
}

}  // namespace systole::mapping

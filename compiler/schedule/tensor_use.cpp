#include "compiler/schedule/tensor_use.h"

namespace systole::schedule {

std::vector<TensorUse> tensor_uses(const mapping::Network& network) {
    std::vector<TensorUse> uses(network.tensors.size());
    for (const mapping::TensorId id : network.inputs) uses[id].begins_in_host = true;
    for (const mapping::TensorId id : network.outputs) uses[id].is_output = true;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const mapping::Layer& layer = network.layers[l];
        for (const mapping::TensorId id : layer.inputs) {
            TensorUse& use = uses[id];
            if (!use.readers.empty() && use.readers.back() == l) continue;
            use.readers.push_back(l);
            if (!mapping::reads_host_memory(layer)) use.chip_readers.push_back(l);
            if (mapping::runs_on_host(layer) && !use.first_segment) use.first_segment = l;
        }
        for (const mapping::TensorId id : mapping::outputs_of(layer)) {
            TensorUse& use = uses[id];
            if (!use.maker) use.maker = l;  // several layers may send parts of a tensor
            if (mapping::writes_host_memory(layer)) use.begins_in_host = true;
        }
    }
    return uses;
}

}  // namespace systole::schedule

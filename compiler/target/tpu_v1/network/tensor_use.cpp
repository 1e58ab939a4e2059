#include "compiler/target/tpu_v1/network/tensor_use.h"

namespace systole::tpu_v1 {

std::vector<TensorUse> tensor_uses(const Network& network) {
    std::vector<TensorUse> uses(network.tensors.size());
    for (const TensorId id : network.inputs) uses[id].begins_in_host = true;
    for (const TensorId id : network.outputs) uses[id].is_output = true;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        for (const TensorId id : layer.inputs) {
            TensorUse& use = uses[id];
            if (!use.readers.empty() && use.readers.back() == l) continue;
            use.readers.push_back(l);
            if (!reads_host_memory(layer)) use.chip_readers.push_back(l);
            if (runs_on_host(layer) && !use.first_segment) use.first_segment = l;
        }
        for (const TensorId id : outputs_of(layer)) {
            TensorUse& use = uses[id];
            if (!use.maker) use.maker = l;  // several layers may send parts of a tensor
            if (writes_host_memory(layer)) use.begins_in_host = true;
        }
    }
    return uses;
}

}  // namespace systole::tpu_v1

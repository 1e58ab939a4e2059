#include "compiler/target/tensor_core/tensor_uses.h"

namespace systole::tensor_core {

TensorUses::TensorUses(const Network& network)
    : readers(network.tensors.size()), writers(network.tensors.size()) {
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        for (const TensorId read : read_by(network.steps[i])) readers[read].push_back(i);
        for (const TensorId written : written_by(network.steps[i])) writers[written].push_back(i);
    }
}

TensorUses::Steps TensorUses::steps_with(const std::vector<TensorId>& tensors) const {
    Steps steps;
    for (const TensorId id : tensors) {
        steps.insert(readers[id].begin(), readers[id].end());
        steps.insert(writers[id].begin(), writers[id].end());
    }
    return steps;
}

}  // namespace systole::tensor_core

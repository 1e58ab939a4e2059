#include "compiler/schedule/tensor_parts.h"

#include "compiler/schedule/host_parts.h"

namespace systole::schedule {
namespace {

using mapping::TensorId;

/// Whether a layer can write only some channels of a pixel.
struct WritesAmongOthers {
    bool operator()(const mapping::MatrixProduct&) const { return true; }
    bool operator()(const mapping::Pooling&) const { return true; }
    bool operator()(const mapping::Concatenation&) const { return true; }
    bool operator()(const mapping::Elementwise&) const { return false; }
    bool operator()(const mapping::Slice&) const { return false; }
    bool operator()(const mapping::HostSegment&) const { return false; }
};

/// For each tensor, whether it can lie inside the concatenated tensor that it becomes a part of.
std::vector<bool> possible_parts(const mapping::Network& network) {
    std::vector<std::uint32_t> readers(network.tensors.size());
    std::vector<bool> possible(network.tensors.size(), false);
    for (const mapping::Layer& layer : network.layers) {
        for (const TensorId input : layer.inputs) ++readers[input];
        for (const TensorId output : mapping::outputs_of(layer)) {
            possible[output] = std::visit(WritesAmongOthers{}, layer.work);
        }
    }
    // Tensors that the host writes or reads need rows of their own.
    for (const TensorId input : network.inputs) possible[input] = false;
    for (const TensorId output : network.outputs) possible[output] = false;
    for (const HostPart& part : output_parts(network)) possible[part.tensor] = false;
    for (TensorId id = 0; id < readers.size(); ++id) possible[id] = possible[id] && readers[id] == 1;
    return possible;
}

}  // namespace

std::vector<TensorPart> place_parts(const mapping::Network& network) {
    const std::vector<bool> possible = possible_parts(network);
    std::vector<TensorPart> parts(network.tensors.size());
    for (TensorId id = 0; id < parts.size(); ++id) parts[id].whole = id;
    // In reverse order, because a concatenated tensor may be a part of a later one.
    for (auto layer = network.layers.rbegin(); layer != network.layers.rend(); ++layer) {
        if (!std::holds_alternative<mapping::Concatenation>(layer->work)) continue;
        TensorPart next = parts[layer->output];
        for (const TensorId input : layer->inputs) {
            if (possible[input]) parts[input] = next;
            next.first_channel += network.tensors[input].shape.channels;
        }
    }
    std::vector<bool> brought_by_host(parts.size(), false);
    for (const HostPart& part : input_parts(network)) brought_by_host[part.tensor] = true;
    // The parent of a slice has a reader that is no concatenation, so it does not lie in a concatenated
    // tensor.
    for (const mapping::Layer& layer : network.layers) {
        const auto* const slice = std::get_if<mapping::Slice>(&layer.work);
        if (slice == nullptr || brought_by_host[layer.output]) continue;
        const TensorPart& from = parts[layer.inputs[0]];
        parts[layer.output] = {.whole = from.whole,
                               .first_channel = from.first_channel + slice->first_element,
                               .is_slice = true};
    }
    return parts;
}

}  // namespace systole::schedule

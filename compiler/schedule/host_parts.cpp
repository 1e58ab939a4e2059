#include "compiler/schedule/host_parts.h"

#include <algorithm>
#include <utility>

namespace systole::schedule {
namespace {

using mapping::Layer;
using mapping::Network;
using mapping::TensorId;

bool reads(const Layer& layer, TensorId tensor) {
    return std::find(layer.inputs.begin(), layer.inputs.end(), tensor) != layer.inputs.end();
}

/// The first layer that reads the tensor, or the number of layers if none does.
std::uint32_t first_reader(const Network& network, TensorId tensor) {
    const auto layer = std::find_if(network.layers.begin(), network.layers.end(),
                                    [&](const Layer& candidate) { return reads(candidate, tensor); });
    return static_cast<std::uint32_t>(layer - network.layers.begin());
}

/// The layer that computes the tensor; 0 for the network's input.
std::uint32_t maker(const Network& network, TensorId tensor) {
    const auto layer = std::find_if(network.layers.begin(), network.layers.end(),
                                    [&](const Layer& candidate) { return candidate.output == tensor; });
    return layer == network.layers.end() ? 0 : static_cast<std::uint32_t>(layer - network.layers.begin());
}

std::vector<HostPart> in_order(std::vector<HostPart> parts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const HostPart& a, const HostPart& b) { return a.layer < b.layer; });
    return parts;
}

}  // namespace

std::vector<HostPart> input_parts(const Network& network) {
    const HostPart whole{
        .tensor = network.input, .first_byte = 0, .layer = first_reader(network, network.input)};
    const std::uint32_t element_bytes = bytes_of(network.tensors[network.input].type);
    std::vector<HostPart> slices;
    for (const Layer& layer : network.layers) {
        if (!reads(layer, network.input)) continue;
        const auto* const slice = std::get_if<mapping::Slice>(&layer.work);
        if (slice == nullptr) return {whole};
        slices.push_back({.tensor = layer.output,
                          .first_byte = slice->first_element * element_bytes,
                          .layer = first_reader(network, layer.output)});
    }
    if (slices.empty() || network.input == network.output) return {whole};
    return in_order(std::move(slices));
}

std::vector<HostPart> output_parts(const Network& network) {
    const HostPart whole{.tensor = network.output, .first_byte = 0, .layer = maker(network, network.output)};
    const mapping::Tensor& output = network.tensors[network.output];
    const bool is_read = first_reader(network, network.output) < network.layers.size();
    if (is_read || network.layers.empty() || output.shape.height * output.shape.width != 1) return {whole};
    const Layer& last = network.layers[whole.layer];
    if (last.output != network.output || !std::holds_alternative<mapping::Concatenation>(last.work)) {
        return {whole};
    }
    std::vector<HostPart> parts;
    std::uint64_t first_byte = 0;
    for (const TensorId input : last.inputs) {
        parts.push_back({.tensor = input, .first_byte = first_byte, .layer = maker(network, input)});
        first_byte += mapping::image_bytes(network.tensors[input]);
    }
    return in_order(std::move(parts));
}

}  // namespace systole::schedule

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

/// The first layer of the chip that reads the tensor, or the number of layers if none does.
std::uint32_t first_reader(const Network& network, TensorId tensor) {
    const auto layer =
        std::find_if(network.layers.begin(), network.layers.end(), [&](const Layer& candidate) {
            return !mapping::reads_host_memory(candidate) && reads(candidate, tensor);
        });
    return static_cast<std::uint32_t>(layer - network.layers.begin());
}

/// The layer that computes the tensor; the number of layers for an input of the network.
std::uint32_t maker(const Network& network, TensorId tensor) {
    const auto layer =
        std::find_if(network.layers.begin(), network.layers.end(), [&](const Layer& candidate) {
            return std::ranges::count(mapping::outputs_of(candidate), tensor) > 0;
        });
    return static_cast<std::uint32_t>(layer - network.layers.begin());
}

bool is_output(const Network& network, TensorId tensor) {
    return std::ranges::count(network.outputs, tensor) > 0;
}

std::vector<HostPart> in_order(std::vector<HostPart> parts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const HostPart& a, const HostPart& b) { return a.layer < b.layer; });
    return parts;
}

void add_input_parts(const Network& network, TensorId input, std::vector<HostPart>& parts) {
    const HostPart whole{
        .whole = input, .tensor = input, .first_byte = 0, .layer = first_reader(network, input)};
    const std::uint32_t element_bytes = bytes_of(network.tensors[input].type);
    std::vector<HostPart> slices;
    const bool read_in_host_memory = std::ranges::any_of(network.layers, [&](const Layer& layer) {
        return mapping::reads_host_memory(layer) && reads(layer, input);
    });
    for (const Layer& layer : network.layers) {
        if (mapping::reads_host_memory(layer) || !reads(layer, input)) continue;
        const auto* const slice = std::get_if<mapping::Slice>(&layer.work);
        if (slice == nullptr) {
            parts.push_back(whole);
            return;
        }
        slices.push_back({.whole = input,
                          .tensor = layer.output,
                          .first_byte = slice->first_element * element_bytes,
                          .layer = first_reader(network, layer.output)});
    }
    if (slices.empty() && read_in_host_memory && !is_output(network, input)) return;
    if (slices.empty() || is_output(network, input)) {
        parts.push_back(whole);
        return;
    }
    parts.insert(parts.end(), slices.begin(), slices.end());
}

void add_output_parts(const Network& network, TensorId id, std::vector<HostPart>& parts) {
    const std::uint32_t made_at = maker(network, id);
    const bool is_input = made_at == network.layers.size();
    if (!is_input && mapping::writes_host_memory(network.layers[made_at])) return;
    const HostPart whole{.whole = id, .tensor = id, .first_byte = 0, .layer = is_input ? 0 : made_at};
    const mapping::Tensor& output = network.tensors[id];
    const bool is_read =
        std::ranges::any_of(network.layers, [&](const Layer& candidate) { return reads(candidate, id); });
    const bool is_vector = output.shape.height * output.shape.width == 1;
    if (is_read || is_input || !is_vector ||
        !std::holds_alternative<mapping::Concatenation>(network.layers[made_at].work)) {
        parts.push_back(whole);
        return;
    }
    // Each vector goes to one place; one that is sent for itself, too, is copied.
    const std::vector<TensorId>& vectors = network.layers[made_at].inputs;
    if (std::ranges::any_of(vectors, [&](TensorId vector) {
            return network.outputs.size() > 1 && is_output(network, vector);
        })) {
        parts.push_back(whole);
        return;
    }
    std::uint64_t first_byte = 0;
    for (const TensorId vector : vectors) {
        const std::uint32_t layer = maker(network, vector);
        parts.push_back({.whole = id,
                         .tensor = vector,
                         .first_byte = first_byte,
                         .layer = layer == network.layers.size() ? 0 : layer});
        first_byte += mapping::image_bytes(network.tensors[vector]);
    }
}

}  // namespace

std::vector<HostPart> input_parts(const Network& network) {
    std::vector<HostPart> parts;
    for (const TensorId input : network.inputs) add_input_parts(network, input, parts);
    return in_order(std::move(parts));
}

std::vector<HostPart> output_parts(const Network& network) {
    std::vector<HostPart> parts;
    for (const TensorId output : network.outputs) add_output_parts(network, output, parts);
    return in_order(std::move(parts));
}

std::vector<bool> read_by_chip(const Network& network) {
    std::vector<bool> is_read(network.tensors.size(), false);
    for (const Layer& layer : network.layers) {
        if (mapping::reads_host_memory(layer)) continue;
        for (const TensorId input : layer.inputs) is_read[input] = true;
    }
    return is_read;
}

std::vector<bool> begins_in_host_memory(const Network& network) {
    std::vector<bool> in_host(network.tensors.size(), false);
    for (const TensorId input : network.inputs) in_host[input] = true;
    for (const Layer& layer : network.layers) {
        if (!mapping::writes_host_memory(layer)) continue;
        for (const TensorId output : mapping::outputs_of(layer)) in_host[output] = true;
    }
    return in_host;
}

std::vector<std::optional<std::uint32_t>> first_segments(const Network& network) {
    std::vector<std::optional<std::uint32_t>> first(network.tensors.size());
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        if (!mapping::runs_on_host(network.layers[l])) continue;
        for (const TensorId input : network.layers[l].inputs) first[input] = first[input].value_or(l);
    }
    return first;
}

}  // namespace systole::schedule

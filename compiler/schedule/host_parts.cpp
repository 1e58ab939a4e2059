#include "compiler/schedule/host_parts.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace systole::schedule {
namespace {

using mapping::Layer;
using mapping::Network;
using mapping::TensorId;

/// Who makes and reads each tensor: one walk over the layers, so that the parts take no walk each.
struct TensorUse {
    std::vector<std::uint32_t> maker;  ///< by tensor; the number of layers for an input of the network
    std::vector<std::vector<std::uint32_t>> readers;  ///< by tensor: layers, in order, each once
    std::vector<bool> is_output;                      ///< of the network

    explicit TensorUse(const Network& network)
        : maker(network.tensors.size(), static_cast<std::uint32_t>(network.layers.size())),
          readers(network.tensors.size()),
          is_output(network.tensors.size(), false) {
        for (const TensorId output : network.outputs) is_output[output] = true;
        for (auto l = static_cast<std::uint32_t>(network.layers.size()); l-- > 0;) {
            for (const TensorId output : mapping::outputs_of(network.layers[l])) maker[output] = l;
        }
        for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
            for (const TensorId input : network.layers[l].inputs) {
                std::vector<std::uint32_t>& of = readers[input];
                if (of.empty() || of.back() != l) of.push_back(l);
            }
        }
    }
};

/// The first layer of the chip that reads the tensor, or the number of layers if none does.
std::uint32_t first_reader(const Network& network, const TensorUse& use, TensorId tensor) {
    const auto on_chip = [&](std::uint32_t l) { return !mapping::reads_host_memory(network.layers[l]); };
    const auto layer = std::ranges::find_if(use.readers[tensor], on_chip);
    return layer == use.readers[tensor].end() ? static_cast<std::uint32_t>(network.layers.size()) : *layer;
}

std::vector<HostPart> in_order(std::vector<HostPart> parts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const HostPart& a, const HostPart& b) { return a.layer < b.layer; });
    return parts;
}

void add_input_parts(const Network& network, const TensorUse& use, TensorId input,
                     std::vector<HostPart>& parts) {
    const HostPart whole{
        .whole = input, .tensor = input, .first_byte = 0, .layer = first_reader(network, use, input)};
    const std::uint32_t element_bytes = bytes_of(network.tensors[input].type);
    std::vector<HostPart> slices;
    bool read_in_host_memory = false;
    for (const std::uint32_t l : use.readers[input]) {
        const Layer& layer = network.layers[l];
        if (mapping::reads_host_memory(layer)) {
            read_in_host_memory = true;
            continue;
        }
        const auto* const slice = std::get_if<mapping::Slice>(&layer.work);
        if (slice == nullptr) {
            parts.push_back(whole);
            return;
        }
        slices.push_back({.whole = input,
                          .tensor = layer.output,
                          .first_byte = slice->first_element * element_bytes,
                          .layer = first_reader(network, use, layer.output)});
    }
    if (slices.empty() && read_in_host_memory && !use.is_output[input]) return;
    if (slices.empty() || use.is_output[input]) {
        parts.push_back(whole);
        return;
    }
    parts.insert(parts.end(), slices.begin(), slices.end());
}

void add_output_parts(const Network& network, const TensorUse& use, TensorId id,
                      std::vector<HostPart>& parts) {
    const std::uint32_t made_at = use.maker[id];
    const bool is_input = made_at == network.layers.size();
    if (!is_input && mapping::writes_host_memory(network.layers[made_at])) return;
    const HostPart whole{.whole = id, .tensor = id, .first_byte = 0, .layer = is_input ? 0 : made_at};
    const mapping::Tensor& output = network.tensors[id];
    const bool is_vector = output.shape.height * output.shape.width == 1;
    if (!use.readers[id].empty() || is_input || !is_vector ||
        !std::holds_alternative<mapping::Concatenation>(network.layers[made_at].work)) {
        parts.push_back(whole);
        return;
    }
    // Each vector goes to one place; one that is sent for itself, too, is copied.
    const std::vector<TensorId>& vectors = network.layers[made_at].inputs;
    if (network.outputs.size() > 1 &&
        std::ranges::any_of(vectors, [&](TensorId vector) { return use.is_output[vector]; })) {
        parts.push_back(whole);
        return;
    }
    std::uint64_t first_byte = 0;
    for (const TensorId vector : vectors) {
        const std::uint32_t layer = use.maker[vector];
        parts.push_back({.whole = id,
                         .tensor = vector,
                         .first_byte = first_byte,
                         .layer = layer == network.layers.size() ? 0 : layer});
        first_byte += mapping::image_bytes(network.tensors[vector]);
    }
}

}  // namespace

std::vector<HostPart> input_parts(const Network& network) {
    const TensorUse use(network);
    std::vector<HostPart> parts;
    for (const TensorId input : network.inputs) add_input_parts(network, use, input, parts);
    return in_order(std::move(parts));
}

std::vector<HostPart> output_parts(const Network& network) {
    const TensorUse use(network);
    std::vector<HostPart> parts;
    for (const TensorId output : network.outputs) add_output_parts(network, use, output, parts);
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

HostExchange::HostExchange(const Network& network)
    : begins_in_host(begins_in_host_memory(network)),
      read_by_chip(schedule::read_by_chip(network)),
      first_segment(first_segments(network)),
      is_output(network.tensors.size(), false) {
    for (const TensorId output : network.outputs) is_output[output] = true;
}

}  // namespace systole::schedule

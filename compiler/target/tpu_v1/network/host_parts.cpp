#include "compiler/target/tpu_v1/network/host_parts.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace systole::tpu_v1 {
namespace {

/// The first layer of the chip that reads the tensor, or the number of layers if none does.
std::uint32_t first_reader(const Network& network, const mapping::TensorUse& use) {
    return use.chip_readers.empty() ? static_cast<std::uint32_t>(network.layers.size())
                                    : use.chip_readers.front();
}

std::vector<HostPart> in_order(std::vector<HostPart> parts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const HostPart& a, const HostPart& b) { return a.layer < b.layer; });
    return parts;
}

void add_input_parts(const Network& network, std::span<const mapping::TensorUse> uses, TensorId input,
                     std::vector<HostPart>& parts) {
    const mapping::TensorUse& use = uses[input];
    const HostPart whole{
        .whole = input, .tensor = input, .first_byte = 0, .layer = first_reader(network, use)};
    const std::uint32_t element_bytes = bytes_of(network.tensors[input].type);
    std::vector<HostPart> slices;
    const bool read_in_host_memory = use.chip_readers.size() < use.readers.size();
    for (const std::uint32_t l : use.chip_readers) {
        const Layer& layer = network.layers[l];
        const auto* const slice = std::get_if<Slice>(&layer.work);
        if (slice == nullptr) {
            parts.push_back(whole);
            return;
        }
        slices.push_back({.whole = input,
                          .tensor = layer.output,
                          .first_byte = slice->first_element * element_bytes,
                          .layer = first_reader(network, uses[layer.output])});
    }
    if (slices.empty() && read_in_host_memory && !use.is_output) return;
    if (slices.empty() || use.is_output) {
        parts.push_back(whole);
        return;
    }
    parts.insert(parts.end(), slices.begin(), slices.end());
}

void add_output_parts(const Network& network, std::span<const mapping::TensorUse> uses, TensorId id,
                      std::vector<HostPart>& parts) {
    const std::optional<std::uint32_t> maker = uses[id].maker;
    if (maker && writes_host_memory(network.layers[*maker])) return;
    const HostPart whole{.whole = id, .tensor = id, .first_byte = 0, .layer = maker.value_or(0)};
    const Tensor& output = network.tensors[id];
    const bool is_vector = output.shape.height * output.shape.width == 1;
    if (!uses[id].readers.empty() || !maker || !is_vector ||
        !std::holds_alternative<Concatenation>(network.layers[*maker].work)) {
        parts.push_back(whole);
        return;
    }
    // Each vector goes to one place; one that is sent for itself, too, is copied.
    const std::vector<TensorId>& vectors = network.layers[*maker].inputs;
    if (network.outputs.size() > 1 &&
        std::ranges::any_of(vectors, [&](TensorId vector) { return uses[vector].is_output; })) {
        parts.push_back(whole);
        return;
    }
    std::uint64_t first_byte = 0;
    for (const TensorId vector : vectors) {
        parts.push_back({.whole = id,
                         .tensor = vector,
                         .first_byte = first_byte,
                         .layer = uses[vector].maker.value_or(0)});
        first_byte += image_bytes(network.tensors[vector]);
    }
}

}  // namespace

std::vector<HostPart> input_parts(const Network& network, std::span<const mapping::TensorUse> uses) {
    std::vector<HostPart> parts;
    for (const TensorId input : network.inputs) add_input_parts(network, uses, input, parts);
    return in_order(std::move(parts));
}

std::vector<HostPart> output_parts(const Network& network, std::span<const mapping::TensorUse> uses) {
    std::vector<HostPart> parts;
    for (const TensorId output : network.outputs) add_output_parts(network, uses, output, parts);
    return in_order(std::move(parts));
}

}  // namespace systole::tpu_v1

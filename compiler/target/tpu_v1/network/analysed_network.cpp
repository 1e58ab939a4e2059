#include "compiler/target/tpu_v1/network/analysed_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {
namespace {

/// Throws std::logic_error unless the network's inputs and outputs, and those of each layer, are tensors with
/// elements.
void check(const Network& network) {
    const auto has_elements = [&](TensorId id) {
        return id < network.tensors.size() && network.tensors[id].shape.elements() > 0;
    };
    for (const auto* tensors : {&network.inputs, &network.outputs}) {
        if (!std::ranges::all_of(*tensors, has_elements)) {
            throw std::logic_error(fmt::format(
                "quantized network \"{}\": input and output must be tensors with elements", network.name));
        }
        if (tensors->empty()) {
            throw std::logic_error(
                fmt::format("quantized network \"{}\": it must have inputs and outputs", network.name));
        }
    }
    for (const Layer& layer : network.layers) {
        const std::size_t tensors = network.tensors.size();
        const auto is_tensor = [&](TensorId id) { return id < tensors; };
        require(!layer.inputs.empty() && is_tensor(layer.output), network, layer,
                "it must have inputs and output");
        require(std::ranges::all_of(layer.inputs, is_tensor), network, layer,
                "its inputs must be tensors of the network");
        require(std::ranges::all_of(layer.outputs, is_tensor), network, layer,
                "its outputs must be tensors of the network");
        require(std::ranges::all_of(layer.inputs, has_elements) && has_elements(layer.output) &&
                    std::ranges::all_of(layer.outputs, has_elements),
                network, layer, "its tensors must have elements");
    }
}

/// Sets the rows of images. A matrix product reads 16-bit elements in pairs of rows, so the number is even,
/// although the last row may have no elements.
void set_rows(AnalysedNetwork& analysed) {
    const Network& network = analysed.network();
    for (const Tensor& tensor : network.tensors) {
        analysed.own_rows.push_back(image_rows(tensor, analysed.row_bytes));
    }
    analysed.image_rows = analysed.own_rows;
    for (const Layer& layer : network.layers) {
        const auto* const product = std::get_if<MatrixProduct>(&layer.work);
        if (product == nullptr || product->window) continue;
        for (const TensorId id : layer.inputs) {
            const Tensor& tensor = network.tensors[id];
            const std::uint64_t read =
                divide_up(tensor.shape.elements(), std::uint64_t{analysed.row_bytes}) * bytes_of(tensor.type);
            std::uint64_t& own = analysed.own_rows[id];
            own = std::max(own, read);
            std::uint64_t& whole = analysed.image_rows[analysed.parts[id].whole];
            whole = std::max(whole, slice_row(analysed, id) + read);
        }
    }
}

mapping::NetworkTensors tensors_of(const Network& network) {
    mapping::NetworkTensors found{.layers = {},
                                  .tensors = network.tensors.size(),
                                  .inputs = network.inputs,
                                  .outputs = network.outputs};
    for (const Layer& layer : network.layers) {
        const std::span<const TensorId> outputs = outputs_of(layer);
        found.layers.push_back({.inputs = layer.inputs,
                                .outputs = {outputs.begin(), outputs.end()},
                                .runs_on_host = runs_on_host(layer),
                                .reads_host_memory = reads_host_memory(layer),
                                .writes_host_memory = writes_host_memory(layer),
                                .is_view = std::holds_alternative<Slice>(layer.work)});
    }
    return found;
}

}  // namespace

AnalysedNetwork::AnalysedNetwork(Network network, std::uint32_t bytes_of_row)
    : row_bytes(bytes_of_row), network_(std::make_shared<const Network>(std::move(network))) {
    const Network& of = this->network();
    check(of);
    tensors = tensors_of(of);
    uses = mapping::tensor_uses(tensors);
    inputs = input_parts(of, uses);
    outputs = output_parts(of, uses);
    parts = place_parts(of, uses, inputs, outputs, row_bytes);
    set_rows(*this);
    std::vector<std::uint32_t> apart(of.layers.size());
    std::iota(apart.begin(), apart.end(), 0U);
    join(std::move(apart));
}

void AnalysedNetwork::join(std::vector<std::uint32_t> joins) {
    joined_to = std::move(joins);
    members.assign(joined_to.size(), {});
    for (std::uint32_t l = 0; l < joined_to.size(); ++l) members[joined_to[l]].push_back(l);
    std::vector<TensorId> sent;
    for (const HostPart& part : outputs) sent.push_back(part.tensor);
    last_steps = mapping::last_reading_steps(tensors, joined_to, sent);
}

std::uint64_t slice_row(const AnalysedNetwork& analysed, TensorId id) {
    const TensorPart& part = analysed.parts[id];
    if (!part.is_slice) return 0;
    return part.first_channel * bytes_of(analysed.network().tensors[part.whole].type) / analysed.row_bytes;
}

AnalysedNetwork analyse(Network network, const Target& target) {
    AnalysedNetwork analysed(std::move(network), target.geometry.rows);
    analysed.join(group_parallel_layers(analysed.network(), target));
    return analysed;
}

}  // namespace systole::tpu_v1

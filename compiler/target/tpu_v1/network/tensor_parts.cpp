#include "compiler/target/tpu_v1/network/tensor_parts.h"

#include "compiler/target/tpu_v1/network/host_parts.h"

namespace systole::tpu_v1 {
namespace {

using Axis = Concatenation::Axis;

/// Whether a layer can write its output among other channels of each pixel, or among other lines if its own
/// begin at a row.
struct WritesAmongOthers {
    Axis axis = Axis::Channels;

    /// Heads that are exchanged with positions already lie among the channels of their own tensor.
    bool operator()(const MatrixProduct& product) const {
        return !product.written || !product.written->swapped_output;
    }
    bool operator()(const Pooling&) const { return true; }
    bool operator()(const Concatenation& concatenation) const { return concatenation.axis == Axis::Channels; }
    bool operator()(const Elementwise&) const { return axis == Axis::Lines; }
    bool operator()(const Slice&) const { return false; }
    bool operator()(const HostSegment&) const { return false; }
    bool operator()(const Fetch&) const { return axis == Axis::Lines; }
    bool operator()(const Send&) const { return false; }
};

/// Whether one layer reads the tensor, as one of its inputs alone.
bool is_read_once(const Network& network, const mapping::TensorUse& use, TensorId id) {
    return use.readers.size() == 1 && std::ranges::count(network.layers[use.readers.front()].inputs, id) == 1;
}

/// For each tensor, whether it can lie inside the tensor that it is concatenated to along the axis.
std::vector<bool> possible_parts(const Network& network, std::span<const mapping::TensorUse> uses,
                                 std::span<const HostPart> outputs, Axis axis) {
    std::vector<bool> possible(network.tensors.size(), false);
    for (const Layer& layer : network.layers) {
        for (const TensorId output : outputs_of(layer)) {
            possible[output] = std::visit(WritesAmongOthers{axis}, layer.work);
        }
    }
    // Tensors that the host writes or reads need rows of their own.
    for (const TensorId input : network.inputs) possible[input] = false;
    for (const HostPart& part : outputs) possible[part.tensor] = false;
    for (TensorId id = 0; id < uses.size(); ++id) {
        possible[id] = possible[id] && !uses[id].is_output && is_read_once(network, uses[id], id);
    }
    return possible;
}

}  // namespace

std::vector<TensorPart> place_parts(const Network& network, std::span<const mapping::TensorUse> uses,
                                    std::span<const HostPart> inputs, std::span<const HostPart> outputs,
                                    std::uint32_t row_bytes) {
    const std::vector<bool> among_channels = possible_parts(network, uses, outputs, Axis::Channels);
    const std::vector<bool> among_lines = possible_parts(network, uses, outputs, Axis::Lines);
    std::vector<TensorPart> parts(network.tensors.size());
    for (TensorId id = 0; id < parts.size(); ++id) parts[id].whole = id;
    // In reverse order, because a concatenated tensor may be a part of a later one.
    for (auto layer = network.layers.rbegin(); layer != network.layers.rend(); ++layer) {
        const auto* const concatenation = std::get_if<Concatenation>(&layer->work);
        if (concatenation == nullptr) continue;
        TensorPart next = parts[layer->output];
        std::uint64_t first_byte = 0;  // of the lines, in an image of the output
        for (const TensorId input : layer->inputs) {
            switch (concatenation->axis) {
                case Axis::Channels:
                    if (among_channels[input]) parts[input] = next;
                    next.first_channel += network.tensors[input].shape.channels;
                    break;
                case Axis::Lines:
                    next.first_row = first_byte / row_bytes;
                    if (among_lines[input] && first_byte % row_bytes == 0) parts[input] = next;
                    first_byte += image_bytes(network.tensors[input]);
                    break;
            }
        }
    }
    std::vector<bool> brought_by_host(parts.size(), false);
    for (const HostPart& part : inputs) brought_by_host[part.tensor] = true;
    // The parent of a slice has a reader that is no concatenation, so it does not lie in a concatenated
    // tensor.
    for (const Layer& layer : network.layers) {
        const auto* const slice = std::get_if<Slice>(&layer.work);
        if (slice == nullptr || brought_by_host[layer.output]) continue;
        const TensorPart& from = parts[layer.inputs[0]];
        parts[layer.output] = {.whole = from.whole,
                               .first_channel = from.first_channel + slice->first_element,
                               .is_slice = true,
                               .first_row = from.first_row};
    }
    return parts;
}

}  // namespace systole::tpu_v1

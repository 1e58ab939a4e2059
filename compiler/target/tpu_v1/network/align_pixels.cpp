// Images of which slices take single pixels, such as the inputs of a recurrence's steps.
#include "compiler/target/tpu_v1/network/align_pixels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"

namespace systole::tpu_v1 {
namespace {

class PixelAligner {
public:
    PixelAligner(Network network, std::uint32_t row_bytes)
        : network_(std::move(network)), row_bytes_(row_bytes), aligned_(network_.tensors.size()) {
        find_images();
    }

    Network take() {
        if (std::ranges::none_of(is_unaligned_, [](bool is) { return is; })) return std::move(network_);
        std::vector<Layer> layers = std::exchange(network_.layers, {});
        for (const TensorId input : network_.inputs) align(input, std::nullopt);
        std::vector<std::uint32_t> places;  // by layer of the given network
        for (Layer& layer : layers) {
            if (auto* const slice = std::get_if<Slice>(&layer.work)) retarget(layer, *slice);
            const std::vector<TensorId> outputs(outputs_of(layer).begin(), outputs_of(layer).end());
            const std::uint32_t named = layer.part_of.value_or(static_cast<std::uint32_t>(places.size()));
            places.push_back(static_cast<std::uint32_t>(network_.layers.size()));
            network_.layers.push_back(std::move(layer));
            for (const TensorId output : outputs) align(output, named);
        }
        for (Layer& layer : network_.layers) {
            if (layer.part_of) layer.part_of = places[*layer.part_of];
            if (layer.repeats) layer.repeats = places[*layer.repeats];
        }
        return std::move(network_);
    }

private:
    std::uint64_t channels_of_rows(const Tensor& tensor) const {
        const std::uint64_t element_bytes = bytes_of(tensor.type);
        return round_up(tensor.shape.channels * element_bytes, std::uint64_t{row_bytes_}) / element_bytes;
    }

    /// Marks the tensors whose slices are single pixels, or parts of them, some of which begin inside a row.
    void find_images() {
        is_unaligned_.assign(network_.tensors.size(), false);
        std::vector<bool> has_other_slices(network_.tensors.size(), false);
        for (const Layer& layer : network_.layers) {
            const auto* const slice = std::get_if<Slice>(&layer.work);
            if (slice == nullptr) continue;
            const TensorId from = layer.inputs.front();
            const Tensor& image = network_.tensors[from];
            const std::uint64_t channel = slice->first_element % image.shape.channels;
            const std::uint64_t count = network_.tensors[layer.output].shape.elements();
            const std::uint64_t element_bytes = bytes_of(image.type);
            if (count > image.shape.channels - channel || channel * element_bytes % row_bytes_ != 0)
                has_other_slices[from] = true;
            if (slice->first_element * element_bytes % row_bytes_ != 0) is_unaligned_[from] = true;
        }
        for (TensorId id = 0; id < is_unaligned_.size(); ++id) {
            if (has_other_slices[id]) is_unaligned_[id] = false;
        }
        // The host sends slices of an input apart, from any byte on, if nothing reads it as a whole.
        for (const TensorId input : network_.inputs) {
            const bool is_read_whole = std::ranges::any_of(network_.layers, [&](const Layer& layer) {
                return !std::holds_alternative<Slice>(layer.work) && !runs_on_host(layer) &&
                       std::ranges::find(layer.inputs, input) != layer.inputs.end();
            });
            if (!is_read_whole) is_unaligned_[input] = false;
        }
    }

    /// Adds the image with more channels behind the layer that makes the tensor, if it is one of those.
    /// `named`: the layer of the given network in whose name that is.
    void align(TensorId id, std::optional<std::uint32_t> named) {
        if (!is_unaligned_[id]) return;
        Tensor image = network_.tensors[id];
        image.shape.channels = static_cast<std::uint32_t>(channels_of_rows(image));
        const auto aligned = static_cast<TensorId>(network_.tensors.size());
        aligned_[id] = aligned;
        Layer layer{.name = image.name,
                    .inputs = {id},
                    .output = aligned,
                    .work = Concatenation{.axis = Concatenation::Axis::Channels, .leaves_rest = true}};
        layer.part_of = named;
        network_.tensors.push_back(std::move(image));
        network_.layers.push_back(std::move(layer));
    }

    void retarget(Layer& layer, Slice& slice) const {
        const std::optional<TensorId> aligned = aligned_[layer.inputs.front()];
        if (!aligned) return;
        const std::uint64_t channels = network_.tensors[layer.inputs.front()].shape.channels;
        const std::uint64_t pixel = slice.first_element / channels;
        slice.first_element =
            pixel * network_.tensors[*aligned].shape.channels + slice.first_element % channels;
        layer.inputs.front() = *aligned;
    }

    Network network_;
    const std::uint32_t row_bytes_;
    std::vector<bool> is_unaligned_;                ///< by tensor of the given network
    std::vector<std::optional<TensorId>> aligned_;  ///< by the same: the image with more channels
};

}  // namespace

Network align_pixels(Network network, const Target& target) {
    return PixelAligner(std::move(network), target.geometry.rows).take();
}

}  // namespace systole::tpu_v1

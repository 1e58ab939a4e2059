#include "compiler/target/tpu_v1/network/fold_lines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/target/tpu_v1/network/accumulator_parts.h"

namespace systole::tpu_v1 {
namespace {

/// A convolution with other lines.
struct Folded {
    ir::FeatureMap input;
    ir::FeatureMap output;
    ir::Window window;
};

bool is_pointwise(const ir::Window& window) {
    return window.kernel_elements() == 1 && window.stride_y == 1 && window.stride_x == 1 &&
           window.pad_top == 0 && window.pad_left == 0 && window.pad_bottom == 0 && window.pad_right == 0;
}

bool is_along_a_line(const ir::FeatureMap& input, const ir::FeatureMap& output, const ir::Window& window) {
    return input.height == 1 && output.height == 1 && window.kernel_height == 1 && window.pad_top == 0 &&
           window.pad_bottom == 0;
}

/// The largest width of equal lines with which a chunk of whole lines can be as small as the mapping asks
/// for; if there are too many lines then, the smallest width with few enough. nullopt without such a width.
std::optional<std::uint32_t> width_of_lines(std::uint64_t pixels, const AccumulatorParts& accumulators) {
    const std::uint32_t wanted = accumulators.part(AccumulatorParts::most);
    const auto is_possible = [&](std::uint32_t width) {
        return pixels % width == 0 && pixels / width <= most_lines;
    };
    for (std::uint32_t width = wanted; width > 0; --width) {
        if (is_possible(width)) return width;
    }
    for (std::uint32_t width = wanted + 1; width <= accumulators.rows(); ++width) {
        if (is_possible(width)) return width;
    }
    return std::nullopt;
}

ir::FeatureMap with_width(ir::FeatureMap shape, std::uint32_t width) {
    const std::uint64_t pixels = std::uint64_t{shape.height} * shape.width;
    shape.height = static_cast<std::uint32_t>(pixels / width);
    shape.width = width;
    return shape;
}

ir::FeatureMap swapped(ir::FeatureMap shape) {
    std::swap(shape.height, shape.width);
    return shape;
}

ir::Window swapped(ir::Window window) {
    std::swap(window.kernel_height, window.kernel_width);
    std::swap(window.stride_y, window.stride_x);
    std::swap(window.pad_top, window.pad_left);
    std::swap(window.pad_bottom, window.pad_right);
    std::swap(window.dilation_y, window.dilation_x);
    return window;
}

/// nullopt if the layer's lines fit, or if they cannot be folded.
std::optional<Folded> fold(const Network& network, const Layer& layer, const AccumulatorParts& accumulators) {
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    if (product == nullptr || !product->window || writes_weights(*product)) return std::nullopt;
    const ir::FeatureMap& input = network.tensors[layer.inputs[0]].shape;
    const ir::FeatureMap& output = network.tensors[layer.output].shape;
    if (output.width <= accumulators.rows()) return std::nullopt;
    if (is_pointwise(*product->window)) {
        const auto width = width_of_lines(std::uint64_t{output.height} * output.width, accumulators);
        if (width) return Folded{with_width(input, *width), with_width(output, *width), *product->window};
    }
    if (is_along_a_line(input, output, *product->window) && output.width <= most_lines) {
        return Folded{swapped(input), swapped(output), swapped(*product->window)};
    }
    return std::nullopt;
}

class LineFolder {
public:
    LineFolder(Network network, std::vector<std::optional<Folded>> folded)
        : network_(std::move(network)), folded_(std::move(folded)) {}

    Network take() {
        const std::vector<bool> read_whole = tensors_read_whole();
        std::vector<Layer> layers = std::exchange(network_.layers, {});
        std::vector<std::uint32_t> places(layers.size());
        for (std::size_t l = 0; l < layers.size(); ++l) {
            Layer& layer = layers[l];
            if (layer.repeats) layer.repeats = places[*layer.repeats];
            if (!folded_[l]) {
                places[l] = static_cast<std::uint32_t>(network_.layers.size());
                network_.layers.push_back(std::move(layer));
                continue;
            }
            places[l] = add(std::move(layer), *folded_[l], read_whole);
        }
        return std::move(network_);
    }

private:
    /// By tensor: whether it is an output, or a layer reads it in another shape than that of its maker.
    std::vector<bool> tensors_read_whole() const {
        std::vector<bool> whole(network_.tensors.size(), false);
        std::vector<ir::FeatureMap> made(network_.tensors.size());
        for (const TensorId output : network_.outputs) whole[output] = true;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            const Layer& layer = network_.layers[l];
            for (const TensorId input : layer.inputs) {
                if (!folded_[l] || folded_[l]->input != made[input]) whole[input] = true;
            }
            if (folded_[l]) made[layer.output] = folded_[l]->output;
        }
        return whole;
    }

    /// Returns the number of the layer that does the work.
    std::uint32_t add(Layer layer, const Folded& folded, const std::vector<bool>& read_whole) {
        const TensorId output = layer.output;
        layer.inputs[0] = view_of(layer.inputs[0], folded.input, layer);
        layer.output = new_tensor(output, folded.output);
        std::get<MatrixProduct>(layer.work).window = folded.window;
        const Layer& added = network_.layers.emplace_back(std::move(layer));
        const auto number = static_cast<std::uint32_t>(network_.layers.size() - 1);
        if (read_whole[output]) network_.layers.push_back(slice(added, added.output, output, number));
        return number;
    }

    static Layer slice(const Layer& of, TensorId from, TensorId to, std::uint32_t part_of) {
        return {.name = of.name,
                .inputs = {from},
                .output = to,
                .work = Slice{.first_element = 0},
                .part_of = part_of};
    }

    TensorId new_tensor(TensorId like, const ir::FeatureMap& shape) {
        Tensor tensor = network_.tensors[like];
        tensor.shape = shape;
        network_.tensors.push_back(std::move(tensor));
        const auto id = static_cast<TensorId>(network_.tensors.size() - 1);
        views_.emplace(key(like, shape), id);
        return id;
    }

    /// The tensor in another shape, for the layer that follows.
    TensorId view_of(TensorId tensor, const ir::FeatureMap& shape, const Layer& reader) {
        const auto known = views_.find(key(tensor, shape));
        if (known != views_.end()) return known->second;
        const TensorId view = new_tensor(tensor, shape);
        const auto number = static_cast<std::uint32_t>(network_.layers.size() + 1);
        network_.layers.push_back(slice(reader, tensor, view, number));
        return view;
    }

    using Key = std::tuple<TensorId, std::uint32_t, std::uint32_t>;
    static Key key(TensorId tensor, const ir::FeatureMap& shape) {
        return {tensor, shape.height, shape.width};
    }

    Network network_;
    std::vector<std::optional<Folded>> folded_;  ///< by layer of the given network
    std::map<Key, TensorId> views_;              ///< by tensor of the given network and shape
};

}  // namespace

Network fold_long_lines(Network network, const Target& target) {
    const AccumulatorParts accumulators(target.accumulator_rows);
    std::vector<std::optional<Folded>> folded;
    folded.reserve(network.layers.size());
    for (const Layer& layer : network.layers) folded.push_back(fold(network, layer, accumulators));
    if (std::ranges::none_of(folded, [](const auto& each) { return each.has_value(); })) return network;
    return LineFolder(std::move(network), std::move(folded)).take();
}

}  // namespace systole::tpu_v1

#include "compiler/reference/pixel_scaling.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/operators/operator.h"

namespace systole::reference {
namespace {

/// Images of equal pixels, one after the other: what the layers so far make of them.
constexpr std::array<float, 3> pixels{0.0F, 96.0F, 255.0F};

/// scale * pixel + offset for each element of an image.
struct Scaling {
    double scale = 1.0;   ///< mean of the magnitudes over the elements
    double offset = 0.0;  ///< likewise

    /// Pixels of 0 to 1 have a mean below 1 and a deviation of about 0.3, those of 0 to 255 of 30 to 128.
    bool is_of_pixels() const {
        constexpr double between = 16.0;
        return scale > 0.0 && (scale * between <= 1.0 || offset >= between * scale);
    }
};

/// Absent where the numbers of the images do not lie on a line: a layer has done more than to scale them.
std::optional<Scaling> scaling_of(std::span<const float> numbers) {
    const std::size_t elements = numbers.size() / pixels.size();
    Scaling scaling{.scale = 0.0, .offset = 0.0};
    for (std::size_t i = 0; i < elements; ++i) {
        const double dark = numbers[i];
        const double gray = numbers[elements + i];
        const double bright = numbers[2 * elements + i];
        const double scale = (bright - dark) / double{pixels[2]};
        constexpr double rounding = 1e-4;
        const double expected = dark + scale * double{pixels[1]};
        if (!(std::abs(gray - expected) <= rounding * (std::abs(dark) + std::abs(bright))))
            return std::nullopt;
        scaling.scale += std::abs(scale) / static_cast<double>(elements);
        scaling.offset += std::abs(dark) / static_cast<double>(elements);
    }
    return scaling;
}

/// The walk from an input to the first layers that do more than to scale their elements.
class Walk {
public:
    explicit Walk(const ir::Graph& graph) : graph_(graph), border_(graph), readers_(ir::readers(graph)) {}

    /// The layer that scales pixels on all ways from the value; absent if one of them has none.
    std::optional<std::string> from(ir::ValueId first) const {
        std::optional<std::string> layer;
        std::vector<Place> places{{.value = first}};
        while (!places.empty()) {
            Place place = std::move(places.back());
            places.pop_back();
            follow(place);
            if (place.scaling.is_of_pixels()) {
                layer = place.layer;
                continue;
            }
            const std::vector<ir::NodeId>& readers = readers_[place.value];
            if (place.is_last || readers.empty()) return std::nullopt;
            for (std::size_t i = readers.size(); i-- > 0;) {
                places.push_back(place);
                step(graph_.nodes[readers[i]], places.back());
            }
        }
        return layer;
    }

private:
    /// A value on the way, and what the layers before it do.
    struct Place {
        ir::ValueId value = 0;
        std::vector<float> numbers = {};  ///< of the images; none at the input, as no layer may need them
        Scaling scaling = {};
        std::string layer = {};  ///< the first behind which pixels are scaled
        bool is_last = false;    ///< the next layer does more than to scale
    };

    /// Goes on through a layer.
    void step(const ir::Node& node, Place& place) const {
        place.is_last = true;
        if (!may_scale(node)) return;
        if (place.numbers.empty()) place.numbers = images_of(place.value);
        std::vector<float> numbers = computed(node, place.numbers);
        if (numbers.empty()) return;
        const std::optional<Scaling> scaling = scaling_of(numbers);
        if (!scaling || scaling->scale == 0.0) return;
        place.is_last = false;
        place.value = node.output();
        place.numbers = std::move(numbers);
        place.scaling = *scaling;
        if (place.layer.empty() && scaling->is_of_pixels()) place.layer = node.name;
    }

    /// Goes on while one layer alone reads the value.
    void follow(Place& place) const {
        while (!place.is_last && readers_[place.value].size() == 1 && !border_.is_output(place.value)) {
            step(graph_.nodes[readers_[place.value].front()], place);
        }
    }

    std::vector<float> images_of(ir::ValueId input) const {
        std::vector<float> numbers;
        const std::uint64_t elements = graph_.values[input].shape.elements();
        numbers.reserve(pixels.size() * elements);
        for (const float pixel : pixels) numbers.insert(numbers.end(), elements, pixel);
        return numbers;
    }

    /// Not a node that has weights, which scale what they learned, or more than one input or output, or that
    /// is not computed in float, or whose images are sums of others.
    bool may_scale(const ir::Node& node) const {
        const ir::NodeView view(graph_, node);
        if (node.outputs.size() != 1 || view.output().type != DataType::Float32) return false;
        if (node.op->mixes_images(node)) return false;
        return node.is("cast") || (view.data_inputs() == 1 && !node.op->has_weights());
    }

    /// What a node makes of the images; empty if its constants are not known, or not computed in float.
    std::vector<float> computed(const ir::Node& node, std::span<const float> numbers) const {
        if (node.is("cast")) return {numbers.begin(), numbers.end()};
        const ir::NodeView view(graph_, node);
        const operators::Operator& op = operators::operator_of(node);
        std::vector<const void*> inputs;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ir::Value& value = view.input(i);
            if (value.constant && !value.constant->is_known()) return {};
            if (!value.constant && value.type != DataType::Float32) return {};
            inputs.push_back(value.constant ? value.constant->bytes().data()
                                            : static_cast<const void*>(numbers.data()));
        }
        std::vector<float> result(pixels.size() * view.output().shape.elements());
        void* const output = result.data();
        op.compute({.node = view,
                    .inputs = inputs,
                    .batch = static_cast<std::uint32_t>(pixels.size()),
                    .outputs = std::span(&output, 1)});
        return result;
    }

    const ir::Graph& graph_;
    const ir::BorderValues border_;
    const std::vector<std::vector<ir::NodeId>> readers_;
};

}  // namespace

std::vector<std::optional<std::string>> pixel_scaling_layers(const ir::Graph& graph) {
    const Walk walk(graph);
    std::vector<std::optional<std::string>> layers;
    for (const ir::ValueId input : graph.inputs) {
        const bool is_real = graph.values[input].type == DataType::Float32;
        layers.push_back(is_real ? walk.from(input) : std::nullopt);
    }
    return layers;
}

}  // namespace systole::reference

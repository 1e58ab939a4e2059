#include "compiler/operators/input_scaling.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/operators/batch_normalization/affine.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

/// What the layers so far make of an element: scale * x + offset, as means over the channels.
struct Scaling {
    double scale = 1.0;
    double offset = 0.0;
    std::string layer = {};  ///< the first that scales
};

double mean_of(std::span<const float> values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return sum / static_cast<double>(values.size());
}

/// The walk from an input to the first layers that do not scale their elements.
class Walk {
public:
    explicit Walk(const ir::Graph& graph) : graph_(graph), border_(graph), readers_(ir::readers(graph)) {}

    /// The layer that scales pixels on all ways from the value; absent if one of them has none.
    std::optional<std::string> from(ir::ValueId first) const {
        std::optional<std::string> layer;
        std::vector<Place> places{{.value = first, .scaling = {}}};
        while (!places.empty()) {
            Place place = std::move(places.back());
            places.pop_back();
            if (!place.is_last) follow(place);
            layer = scales_pixels(place.scaling);
            if (layer) continue;
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
        Scaling scaling = {};
        bool is_last = false;  ///< the next layer does more than to move and scale
    };

    /// Goes on through a layer.
    void step(const ir::Node& node, Place& place) const {
        place.is_last = !apply(node, place.value, place.scaling);
        if (!place.is_last) place.value = node.output();
    }

    /// Goes on while one layer alone reads the value.
    void follow(Place& place) const {
        while (!place.is_last && readers_[place.value].size() == 1 && !border_.is_output(place.value)) {
            step(graph_.nodes[readers_[place.value].front()], place);
        }
    }

    /// Pixels of 0 to 1 have a mean below 1 and a deviation of about 0.3, those of 0 to 255 of 30 to 128.
    static std::optional<std::string> scales_pixels(const Scaling& scaling) {
        constexpr double between = 16.0;
        const double size = std::abs(scaling.scale);
        const bool brings_down = size * between <= 1.0;
        const bool takes_mean = std::abs(scaling.offset) >= between * size;
        if (size == 0.0 || scaling.layer.empty() || !(brings_down || takes_mean)) return std::nullopt;
        return scaling.layer;
    }

    /// Adds what a node does to the elements of a value; false if it does more than to move and scale them.
    bool apply(const ir::Node& node, ir::ValueId value, Scaling& scaling) const {
        const ir::NodeView view(graph_, node);
        const Operator& op = operator_of(node);
        if (view.data_inputs() != 1 || node.outputs.size() != 1) return false;
        if (op.moves_elements() || op.is_identity(view) || node.is("transpose")) return true;
        if (node.is("cast")) return view.output().type == DataType::Float32;
        if (node.is("batch_normalization")) {
            for (std::size_t i = 1; i < node.inputs.size(); ++i) {
                if (!view.input(i).constant->is_known()) return false;
            }
            const Affine affine = affine_of(view);
            scale(node, scaling, mean_of(affine.scale));
            scaling.offset += mean_of(affine.offset);
            return true;
        }
        return apply_pair(view, value, scaling);
    }

    static bool apply_pair(const ir::NodeView& view, ir::ValueId value, Scaling& scaling) {
        const ir::Node& node = view.node();
        const bool is_first = node.inputs.front() == value;
        if (node.inputs.size() != 2) return false;
        const ir::Value& other = view.input(is_first ? 1 : 0);
        if (!other.constant || !other.constant->is_known() || other.type != DataType::Float32) return false;
        const double number = mean_of(known_floats(other));
        if (node.is("multiply")) {
            scale(node, scaling, number);
        } else if (node.is("divide") && is_first && number != 0.0) {
            scale(node, scaling, 1.0 / number);
        } else if (node.is("add") || (node.is("subtract") && is_first)) {
            scaling.offset += node.is("add") ? number : -number;
            name(node, scaling);
        } else {
            return false;
        }
        return true;
    }

    static void scale(const ir::Node& node, Scaling& scaling, double factor) {
        scaling.scale *= factor;
        scaling.offset *= factor;
        name(node, scaling);
    }

    static void name(const ir::Node& node, Scaling& scaling) {
        if (scaling.layer.empty()) scaling.layer = node.name;
    }

    const ir::Graph& graph_;
    const ir::BorderValues border_;
    const std::vector<std::vector<ir::NodeId>> readers_;
};

}  // namespace

std::optional<std::string> pixel_scaling_layer(const ir::Graph& graph, ir::ValueId input) {
    return Walk(graph).from(input);
}

}  // namespace systole::operators

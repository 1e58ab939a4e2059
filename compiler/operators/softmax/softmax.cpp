// Turns the channels of each pixel into probabilities: exp(x) over their sum.
#include <algorithm>
#include <cmath>

#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

ir::ValueId read_keras_softmax(ir::LayerReader& layer) {
    layer.require_last_axis("axis", layer.input_map().is_vector());
    return layer.append("softmax", {}, {layer.input()});
}

class Softmax final : public Operator {
public:
    std::string_view name() const override { return "softmax"; }
    std::string_view summary() const override {
        return "Turns the channels of each pixel into probabilities: exp(x) over their sum.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Softmax",
                 .keys = {{"axis", "only the last"}},
                 .build = read_keras_softmax},
                {.format = ir::Format::GraphJson, .name = "softmax", .build = [](ir::LayerReader& layer) {
                     return layer.append("softmax", {}, {layer.input()});
                 }}};
    }
    std::vector<ir::FunctionName> function_names() const override { return {{ir::Format::Keras, "softmax"}}; }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        return {node.input().shape};
    }
    void evaluate(const FloatCall& call) const override {
        const ir::FeatureMap map = call.node.input_map();
        const std::size_t pixels = call.batch * (std::size_t{map.height} * map.width);
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            const float* const from = call.inputs[0] + pixel * map.channels;
            float* const to = call.output + pixel * map.channels;
            const float largest = *std::max_element(from, from + map.channels);
            float sum = 0.0F;
            for (std::size_t c = 0; c < map.channels; ++c) sum += to[c] = std::exp(from[c] - largest);
            for (std::size_t c = 0; c < map.channels; ++c) to[c] /= sum;
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_softmax() {
    return std::make_unique<Softmax>();
}

}  // namespace systole::operators

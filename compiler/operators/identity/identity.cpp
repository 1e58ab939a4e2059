// The unchanged input: for layers that have an effect in training only, and for linear functions.
#include <algorithm>

#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

/// A Keras layer that has an effect in training only.
ir::LayerKind training_layer(const char* name) {
    return {.format = ir::Format::Keras, .name = name, .keys = {}, .build = [](ir::LayerReader& layer) {
                return layer.input();
            }};
}

ir::ValueId read_keras_activation(ir::LayerReader& layer) {
    if (!layer.has("activation")) layer.fail("activation", "it must be given");
    return layer.append_function("activation", layer.input());
}

class Identity final : public Operator {
public:
    std::string_view name() const override { return "identity"; }
    std::string_view summary() const override { return "The unchanged input."; }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {training_layer("Dropout"),
                training_layer("SpatialDropout2D"),
                training_layer("GaussianNoise"),
                {.format = ir::Format::Keras,
                 .name = "Activation",
                 .keys = {{"activation", "the function that the layer is"}},
                 .build = read_keras_activation},
                {.format = ir::Format::GraphJson, .name = "linear", .build = [](ir::LayerReader& layer) {
                     return layer.append("identity", {}, {layer.input()});
                 }}};
    }
    std::vector<ir::FunctionName> function_names() const override {
        return {{ir::Format::Keras, "linear"}, {ir::Format::GraphJson, "linear"}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        return {node.input().shape};
    }
    bool is_identity(const ir::NodeView& /*node*/) const override { return true; }
    Placement placement() const override { return {.where = "nowhere: it is removed", .formats = "float32"}; }
    void evaluate(const FloatCall& call) const override {
        std::copy_n(call.inputs[0], call.batch * call.node.input().shape.elements(), call.output);
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_identity() {
    return std::make_unique<Identity>();
}

}  // namespace systole::operators

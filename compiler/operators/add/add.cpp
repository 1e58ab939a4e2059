// The element-wise sum of two tensors of one shape.
#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

/// Keras adds any number: one behind the other.
ir::ValueId read_keras_add(ir::LayerReader& layer) {
    const std::vector<ir::ValueId>& inputs = layer.inputs();
    if (inputs.size() < 2) {
        layer.fail(fmt::format("it has {} inputs; it must have at least 2", inputs.size()));
    }
    ir::ValueId sum = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) sum = layer.append("add", {}, {sum, inputs[i]});
    return sum;
}

class Add final : public Operator {
public:
    std::string_view name() const override { return "add"; }
    std::string_view summary() const override { return "The element-wise sum of two tensors of one shape."; }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::GraphJson,
                 .name = "add",
                 .keys = {{"activation", "a function of the result"}},
                 .build =
                     [](ir::LayerReader& layer) {
                         return layer.append_function("activation", layer.append("add", {}, layer.inputs()));
                     }},
                {.format = ir::Format::Keras, .name = "Add", .keys = {}, .build = read_keras_add}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) {
            throw ModelError(
                fmt::format("it adds {} inputs; it must have exactly 2", node.node().inputs.size()));
        }
        if (node.input_map(0) != node.input_map(1)) {
            throw ModelError(fmt::format("it adds {} and {}; the shapes must be the same",
                                         to_text(node.input_map(0)), to_text(node.input_map(1))));
        }
        return {node.input().shape};
    }
    void evaluate(const FloatCall& call) const override {
        const std::size_t count = call.batch * call.node.input().shape.elements();
        const float* const a = call.inputs[0];
        const float* const b = call.inputs[1];
        for (std::size_t i = 0; i < count; ++i) call.output[i] = a[i] + b[i];
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_add() {
    return std::make_unique<Add>();
}

}  // namespace systole::operators

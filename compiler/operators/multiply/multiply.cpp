// The element-wise product of two tensors of one shape.
#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

class Multiply final : public Operator {
public:
    std::string_view name() const override { return "multiply"; }
    std::string_view summary() const override {
        return "The element-wise product of two tensors of one shape.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::GraphJson,
                 .name = "multiply",
                 .keys = {{"activation", "a function of the result"}},
                 .build = [](ir::LayerReader& layer) {
                     return layer.append_function("activation", layer.append("multiply", {}, layer.inputs()));
                 }}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) {
            throw ModelError(
                fmt::format("it multiplies {} inputs; it must have exactly 2", node.node().inputs.size()));
        }
        if (node.input_map(0) != node.input_map(1)) {
            throw ModelError(fmt::format("it multiplies {} and {}; the shapes must be the same",
                                         to_text(node.input_map(0)), to_text(node.input_map(1))));
        }
        return {node.input().shape};
    }
    void evaluate(const FloatCall& call) const override {
        const std::size_t count = call.batch * call.node.input().shape.elements();
        const float* const a = call.inputs[0];
        const float* const b = call.inputs[1];
        for (std::size_t i = 0; i < count; ++i) call.output[i] = a[i] * b[i];
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_multiply() {
    return std::make_unique<Multiply>();
}

}  // namespace systole::operators

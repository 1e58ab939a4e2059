// The logarithm of the softmax along an axis: x minus the logarithm of the sum of exp(x).
#include <algorithm>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/softmax/softmax_nodes.h"

namespace systole::operators {
namespace {

class LogSoftmax final : public Operator {
public:
    std::string_view name() const override { return "log_softmax"; }
    std::string_view summary() const override {
        return "The logarithm of the softmax along an axis: x minus the logarithm of the sum of exp(x).";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {onnx_softmax("log_softmax", "LogSoftmax"),
                tflite_plain_node("log_softmax", "LOG_SOFTMAX", 1)};
    }
    std::vector<ir::FunctionName> function_names() const override {
        return {{ir::Format::Keras, "log_softmax"}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lines(node, axes);
    }
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        return node.node().integer("axis") == -1 ? LeadingOnes::Passed : LeadingOnes::Counted;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        axis_of_attribute(node);
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    bool runs_on_host() const override { return true; }
    void evaluate(const FloatCall& call) const override {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            float largest = *from;
            for (std::size_t i = 0; i < lines.count; ++i) largest = std::max(largest, from[i * lines.inner]);
            float sum = 0.0F;
            for (std::size_t i = 0; i < lines.count; ++i) sum += std::exp(from[i * lines.inner] - largest);
            const float logarithm = std::log(sum);
            for (std::size_t i = 0; i < lines.count; ++i) {
                call.output[first + i * lines.inner] = from[i * lines.inner] - largest - logarithm;
            }
        });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_log_softmax() {
    return std::make_unique<LogSoftmax>();
}

}  // namespace systole::operators

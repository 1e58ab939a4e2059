// Lines along an axis divided by their norm.
#include <algorithm>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_lp_normalization(ir::LayerReader& layer) {
    const std::int64_t order = integer_of(layer, "p", 2);
    if (order != 1 && order != 2) layer.fail("p", "it must be 1 or 2");
    const auto axis =
        static_cast<std::int64_t>(axis_in(layer, integer_of(layer, "axis", -1), shape_of(layer).rank()));
    return layer.append("normalize", {{"axis", axis}, {"order", order}, {"least", 0.0}},
                        {input_of(layer, 0)});
}

ir::Results read_tflite_l2_normalization(ir::LayerReader& layer) {
    const ir::ResultType type = layer.declared_result(0);
    if (type.quantization) layer.fail("it works on float32, not on quantized numbers");
    return append_fused_function(layer, layer.append_as(type, "normalize", {}, {input_of(layer, 0)}));
}

/// Keras UnitNormalization: one axis.
ir::Results read_keras_unit_normalization(ir::LayerReader& layer) {
    const auto axis =
        static_cast<std::int64_t>(axis_in(layer, integer_of(layer, "axis", -1), shape_of(layer).rank()));
    return layer.append("normalize", {{"axis", axis}}, {layer.input()});
}

class Normalize final : public Operator {
public:
    std::string_view name() const override { return "normalize"; }
    std::string_view summary() const override { return "Lines along an axis divided by their norm."; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        constexpr double least_norm = 1e-6;
        static const std::vector<ir::AttributeDeclaration> declarations{
            axis_attribute(),
            {.name = "order",
             .meaning = "1: the sum of the magnitudes; 2: the root of the sum of the squares",
             .absent = std::int64_t{2},
             .minimum = 1,
             .maximum = 2},
            {.name = "least",
             .meaning = "a smaller norm becomes this one",
             .absent = least_norm,
             .minimum = 0.0}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "LpNormalization",
                 .keys = {{"axis", "`axis`"}, {"p", "`order`"}},
                 .build = read_onnx_lp_normalization},
                {.format = ir::Format::Tflite,
                 .name = "L2_NORMALIZATION",
                 .keys = {{"fused_activation_function", "a function of the result"}},
                 .build = read_tflite_l2_normalization},
                {.format = ir::Format::Keras,
                 .name = "UnitNormalization",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_keras_unit_normalization}};
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
        const ir::Node& node = call.node.node();
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        const bool is_euclidean = node.integer("order") == 2;
        const auto least = static_cast<float>(node.real("least"));
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            float sum = 0.0F;
            for (std::size_t i = 0; i < lines.count; ++i) {
                const float x = from[i * lines.inner];
                sum += is_euclidean ? x * x : std::abs(x);
            }
            const float norm = std::max(is_euclidean ? std::sqrt(sum) : sum, least);
            for (std::size_t i = 0; i < lines.count; ++i) {
                // The norm of a line of zeros is 0 without a least one; the line stays.
                call.output[first + i * lines.inner] = norm == 0.0F ? 0.0F : from[i * lines.inner] / norm;
            }
        });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_normalize() {
    return std::make_unique<Normalize>();
}

}  // namespace systole::operators

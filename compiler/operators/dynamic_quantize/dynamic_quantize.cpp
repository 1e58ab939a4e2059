// Stores real numbers as bytes, with a scale and a zero point that follow from the numbers themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_dynamic_quantize(ir::LayerReader& layer) {
    return layer.append_node("dynamic_quantize", {}, {layer.input()},
                             {{DataType::Uint8}, {DataType::Float32}, {DataType::Uint8}});
}

class DynamicQuantize final : public Operator {
public:
    std::string_view name() const override { return "dynamic_quantize"; }
    std::string_view summary() const override {
        return "Stores real numbers as bytes, with a scale and a zero point that follow from the numbers "
               "themselves. Results: the bytes, the scale, the zero point.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "DynamicQuantizeLinear",
                 .build = read_onnx_dynamic_quantize}};
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        return {node.input().shape, {}, {}};
    }
    void check_types(const ir::NodeView& node) const override {
        if (node.input().type != DataType::Float32 || node.output(0).type != DataType::Uint8 ||
            node.output(1).type != DataType::Float32 || node.output(2).type != DataType::Uint8) {
            throw ModelError(
                "it must turn float32 into uint8, with a scale of float32 and a zero point of "
                "uint8");
        }
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    Placement placement() const override {
        return {.where = "host; nowhere where a static scale replaces it", .formats = "float32 to uint8"};
    }

    void compute(const TensorCall& call) const override {
        const std::size_t elements = call.node.input().shape.elements();
        const bool is_constant = call.node.input().constant.has_value();
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const auto* const from = call.input<float>(0) + (is_constant ? 0 : image * elements);
            auto* const to = call.output<std::uint8_t>(0) + image * elements;
            constexpr float most = 255.0F;
            float lowest = 0.0F;
            float highest = 0.0F;
            for (std::size_t i = 0; i < elements; ++i) {
                lowest = std::min(lowest, from[i]);
                highest = std::max(highest, from[i]);
            }
            // As onnxruntime: float32 throughout; numbers that are all 0 have the scale 1.
            const float scale = highest == lowest ? 1.0F : (highest - lowest) / most;
            const float zero_point = std::nearbyint(std::clamp(0.0F - lowest / scale, 0.0F, most));
            for (std::size_t i = 0; i < elements; ++i) {
                const float stored = std::nearbyint(from[i] / scale) + zero_point;
                to[i] = static_cast<std::uint8_t>(std::isnan(stored) ? 0.0F : std::clamp(stored, 0.0F, most));
            }
            call.output<float>(1)[image] = scale;
            call.output<std::uint8_t>(2)[image] =
                static_cast<std::uint8_t>(std::isnan(zero_point) ? 0.0F : zero_point);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_dynamic_quantize() {
    return std::make_unique<DynamicQuantize>();
}

}  // namespace systole::operators

// The real numbers that stored integers stand for: scale * (stored - zero point).
#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/onnx_quantization.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/tflite_functions.h"
#include "hw/base/conversion.h"

namespace systole::operators {
namespace {

/// x, the scale and the zero point. The real numbers of a constant keep its scale, so that passes find the
/// integers again.
ir::ValueId read_onnx_dequantize(ir::LayerReader& layer) {
    const auto input = layer.input_if_any(0);
    if (!input) layer.fail("its first input is absent; it must be given");
    const std::size_t rank = layer.value(*input).shape.rank();
    const bool has_axis = layer.input_if_any(1) && layer.value(layer.inputs()[1]).shape.elements() > 1;
    const auto axis = has_axis ? std::optional(onnx_axis(layer, "axis", 1, rank)) : std::nullopt;
    const OnnxQuantization quantization = onnx_quantization(layer, 1, 2, axis);
    const ir::ValueId stored = layer.as_quantized(*input, quantization.quantization);
    if (!layer.value(stored).constant) return layer.append("dequantize", {}, {stored});
    return layer.append_as({DataType::Float32, quantization.quantization}, "dequantize", {}, {stored});
}

class Dequantize final : public Operator {
public:
    std::string_view name() const override { return "dequantize"; }
    std::string_view summary() const override {
        return "The real numbers that stored integers stand for: scale * (stored - zero point), with one "
               "scale "
               "or one for each index of an axis.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "DequantizeLinear",
                 .keys = {{"axis", "the axis of the scales, if there are several"}},
                 .build = read_onnx_dequantize},
                tflite_dequantize()};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        return {node.input().shape};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    Placement placement() const override {
        return {.where = "host", .formats = "uint8, int8, int16 or int32 to float32"};
    }
    bool runs_on_host() const override { return true; }
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Float32; }
    void check_types(const ir::NodeView& node) const override {
        if (!is_integer(node.input().type) || node.output().type != DataType::Float32) {
            throw ModelError(fmt::format("it turns {} into {}; it must turn integers into float32",
                                         name_of(node.input().type), name_of(node.output().type)));
        }
        if (!node.input().quantization) throw ModelError("its input must have a scale");
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input();
        const ir::Quantization& quantization = *input.quantization;
        std::vector<std::int32_t> numbers(call.input_elements(0));
        widen(call.inputs[0], input.type, numbers);
        const ScaleAxis scales = scale_axis(input);
        auto* const to = call.output<float>();
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::size_t index = scales.index_of(i);
            to[i] = real_number(numbers[i], quantization.scales[index], quantization.zero_points[index]);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_dequantize() {
    return std::make_unique<Dequantize>();
}

}  // namespace systole::operators

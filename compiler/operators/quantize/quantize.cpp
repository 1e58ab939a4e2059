// Stores real numbers as integers: clamp(round(x / scale) + zero point).
#include <fmt/format.h>

#include "base/conversion.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/onnx_quantization.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantize/microsoft.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

/// x, the scale and the zero point, whose type is that of the result.
ir::ValueId read_onnx_quantize(ir::LayerReader& layer) {
    const auto input = layer.input_if_any(0);
    if (!input) layer.fail("its first input is absent; it must be given");
    const std::size_t rank = layer.value(*input).shape.rank();
    // Tensors of one scale have no axis, whatever the attribute says.
    const bool has_axis = layer.input_if_any(1) && layer.value(layer.inputs()[1]).shape.elements() > 1;
    const auto axis = has_axis ? std::optional(onnx_axis(layer, "axis", 1, rank)) : std::nullopt;
    const OnnxQuantization quantization = onnx_quantization(layer, 1, 2, axis);
    if (axis && layer.value(*input).shape[*axis] != quantization.quantization.scales.size()) {
        layer.fail(fmt::format("it has {} scales for axis {} of {}; it must have one for each index",
                               quantization.quantization.scales.size(), *axis,
                               to_text(layer.value(*input).shape)));
    }
    const DataType type = quantization.type.value_or(DataType::Uint8);
    return layer.append_as({type, quantization.quantization}, "quantize", {{"half_to_even", std::int64_t{1}}},
                           {*input});
}

class Quantize final : public Operator {
public:
    std::string_view name() const override { return "quantize"; }
    std::string_view summary() const override {
        return "Stores real numbers as integers: x / scale, rounded, plus the zero point, clamped to the "
               "type.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "half_to_even",
             .meaning = "1: halves are rounded to the even number, as in ONNX; 0: away from 0, as in TFLite",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKind> kinds{
            {.format = ir::Format::Onnx,
             .name = "QuantizeLinear",
             .keys = {{"axis", "the axis of the scales, if there are several"},
                      {"saturate", "nothing: it is for types that are not supported"}},
             .build = read_onnx_quantize}};
        for (ir::LayerKind& kind : microsoft_layers()) kinds.push_back(std::move(kind));
        kinds.push_back(tflite_quantize());
        return kinds;
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
        return {.where = "host", .formats = "float32 to uint8, int8, int16 or int32"};
    }
    void check_types(const ir::NodeView& node) const override {
        const ir::Value& result = node.output();
        if (node.input().type != DataType::Float32 || !is_integer(result.type)) {
            throw ModelError(fmt::format("it turns {} into {}; it must turn float32 into integers",
                                         name_of(node.input().type), name_of(result.type)));
        }
        if (!result.quantization) throw ModelError("its result must have a scale and a zero point");
    }
    void compute(const TensorCall& call) const override {
        check_types(call.node);  // nodes of constants are computed before a graph is checked
        const ir::Quantization& quantization = *call.node.output().quantization;
        const ir::ScaleAxis scales = scale_axis(call.node.output());
        const DataType type = call.node.output().type;
        const bool half_to_even = call.node.node().integer("half_to_even") != 0;
        const Conversion conversion = half_to_even ? Conversion::HalfToEven : Conversion::HalfAway;
        const auto* const from = call.input<float>(0);
        std::vector<std::int32_t> numbers(call.output_elements());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::size_t index = scales.index_of(i);
            numbers[i] = stored_number(double{from[i]}, {.scale = quantization.scales[index],
                                                         .zero_point = quantization.zero_points[index],
                                                         .type = type,
                                                         .conversion = conversion});
        }
        narrow(numbers, type, call.output<void>());
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_quantize() {
    return std::make_unique<Quantize>();
}

}  // namespace systole::operators

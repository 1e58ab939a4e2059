// The sum of two tensors, element by element.
#include "compiler/operators/add/add.h"

#include <algorithm>
#include <cmath>

#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "hw/math/elementwise.h"

namespace systole::operators {
namespace {

float sum_of_floats(float a, float b) {
    return a + b;
}

/// The mean of several tensors: their sum times a number.
ir::ValueId read_mean(ir::LayerReader& layer) {
    const std::vector<ir::ValueId>& inputs = layer.inputs();
    if (inputs.empty()) layer.fail("it has no inputs; it must have at least 1");
    ir::ValueId sum = inputs.front();
    for (std::size_t i = 1; i < inputs.size(); ++i) sum = layer.append("add", {}, {sum, inputs[i]});
    const ir::ValueId factor = layer.constant("factor", {}, {1.0F / static_cast<float>(inputs.size())});
    return layer.append("multiply", {}, {sum, factor});
}

/// Reads a Keras Average as a sum, and a multiplication by 1 / number of inputs.
ir::ValueId read_keras_average(ir::LayerReader& layer) {
    if (layer.inputs().empty()) layer.fail("it has no inputs; it must have at least 1");
    ir::ValueId sum = layer.inputs().front();
    for (std::size_t i = 1; i < layer.inputs().size(); ++i) {
        sum = layer.append("add", {}, {sum, layer.inputs()[i]});
    }
    const std::uint32_t channels = layer.map_of(sum).channels;
    const float scale = 1.0F / static_cast<float>(layer.inputs().size());
    return append_affine(layer, sum, std::vector<float>(channels, scale), std::vector<float>(channels, 0.0F));
}

/// As in TFLite, both inputs are converted to twice the larger scale, with 20 or 15 fractional bits.
int headroom_bits(DataType type) {
    return bytes_of(type) == 2 ? math::addition_left_shift_16_bit : math::addition_left_shift_8_bit;
}

double common_scale(const ir::Encoding& a, const ir::Encoding& b) {
    return 2 * std::max(a.scale, b.scale);
}

/// Fails unless the inputs have the width of the stored result, which may be that of a fused function.
void check_widths(Quantizer& quantizer, const ir::Node& node, ir::ValueId result) {
    if (result == node.output()) return quantizer.require_one_width(node);
    for (const ir::ValueId input : node.inputs) {
        if (bytes_of(quantizer.stored_encoding(input).type) == bytes_of(quantizer.type(result))) continue;
        quantizer.fail(result,
                       "its width differs from that of the partial sum before it; both must be the same");
    }
}

void check_sum_scales(const ir::NodeView& node) {
    check_rounding(node);
    if (rounding_of(node.node()) == Rounding::FloatHalfEven) {
        float_sum_multipliers(node);
    } else {
        sum_scaling(node);
    }
}

class Add final : public PairwiseOperator {
public:
    Add()
        : PairwiseOperator("adds", apply_to_row<sum_of_floats>, WordOperation::Add, WordOperation::AddInt,
                           apply_to_row<wrapping_add>, check_sum_scales) {}

    std::string_view name() const override { return "add"; }
    std::string_view summary() const override { return "The sum of two tensors, element by element."; }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {json_pairwise_layer("add"),
                tflite_pairwise_layer("add", "ADD"),
                keras_chain("add", "Add"),
                onnx_pair("add", "Add"),
                onnx_chain("add", "Sum"),
                {.format = ir::Format::Onnx, .name = "Mean", .build = read_mean},
                {.format = ir::Format::Keras, .name = "Average", .build = read_keras_average}};
    }

    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{clamp_attribute(),
                                                                        rounding_attribute()};
        return declarations;
    }

    /// Includes a ReLU that is the only reader of the result, as the clamp.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        if (!pairs_activations(quantizer.view(node))) return quantize_others(node, quantizer);
        const ir::Encoding a = quantizer.stored_encoding(node.inputs[0]);
        const ir::Encoding b = quantizer.stored_encoding(node.inputs[1]);
        const ir::Node* const function = quantizer.function_after(node.output());
        const auto limit = function == nullptr ? std::nullopt : operator_of(*function).clamp_limit(*function);
        const ir::ValueId result = limit ? function->output() : node.output();
        check_widths(quantizer, node, result);
        ir::Encoding encoding = quantizer.encoding(result);
        // If the inputs nearly cancel, the result's range is small; its multiplier must stay below 1 to avoid
        // overflow.
        encoding.scale =
            std::max(encoding.scale, std::ldexp(common_scale(a, b), 1 - headroom_bits(encoding.type)));
        ir::Node added = node;
        if (limit) {
            added.set("clamp",
                      std::vector<std::int64_t>{encoding.zero_point, encoding.stored(double{*limit})});
        }
        for (ir::ValueId& input : added.inputs) input = quantizer.stored(input);
        added.outputs = {quantizer.add_value(result, encoding)};
        quantizer.store(result, added.output());
        quantizer.store(node.output(), added.output());
        quantizer.add_node(std::move(added));
    }

    void execute(const IntegerCall& call) const override {
        if (rounding_of(call.node.node()) == Rounding::FloatHalfEven) return execute_in_float(call);
        const PairScaling factors = sum_scaling(call.node);
        const Clamp clamp = clamp_of(call.node);
        const std::int32_t zero_point_a = encoding_of(call.node.input(0)).zero_point;
        const std::int32_t zero_point_b = encoding_of(call.node.input(1)).zero_point;
        const ir::Encoding result = encoding_of(call.node.output());
        const std::int32_t headroom = 1 << headroom_bits(result.type);
        const bool is_even = rounding_of(call.node.node()) == Rounding::HalfToEven;
        const auto scaling = is_even ? scale_to_even : scale;
        const std::size_t count = call.batch * call.node.output().shape.elements();
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t a = (call.inputs[0][i] - zero_point_a) * headroom;
            const std::int32_t b = (call.inputs[1][i] - zero_point_b) * headroom;
            const std::int32_t sum = wrap(std::int64_t{scaling(a, factors.a.multiplier, factors.a.shift)} +
                                          scaling(b, factors.b.multiplier, factors.b.shift));
            const std::int32_t scaled = scaling(sum, factors.result.multiplier, factors.result.shift);
            call.output[i] = offset_and_clamp(scaled, result.zero_point, clamp.minimum, clamp.maximum);
        }
    }

private:
    static void execute_in_float(const IntegerCall& call) {
        const auto [factor_a, factor_b] = float_sum_multipliers(call.node);
        const Clamp clamp = clamp_of(call.node);
        const std::int32_t zero_point_a = encoding_of(call.node.input(0)).zero_point;
        const std::int32_t zero_point_b = encoding_of(call.node.input(1)).zero_point;
        const std::int32_t zero_point = encoding_of(call.node.output()).zero_point;
        const std::size_t count = call.batch * call.node.output().shape.elements();
        for (std::size_t i = 0; i < count; ++i) {
            const float sum = float_product(call.inputs[0][i] - zero_point_a, factor_a) +
                              float_product(call.inputs[1][i] - zero_point_b, factor_b);
            call.output[i] = offset_and_clamp(nearest_even(sum), zero_point, clamp.minimum, clamp.maximum);
        }
    }
};

}  // namespace

PairScaling sum_scaling(const ir::NodeView& node) {
    const ir::Encoding a = encoding_of(node.input(0));
    const ir::Encoding b = encoding_of(node.input(1));
    const ir::Encoding result = encoding_of(node.output());
    const double common = common_scale(a, b);
    return {.a = fixed_point_of(a.scale / common),
            .b = fixed_point_of(b.scale / common),
            .result = fixed_point_of(std::ldexp(common, -headroom_bits(result.type)) / result.scale)};
}

std::array<float, 2> float_sum_multipliers(const ir::NodeView& node) {
    const double result = encoding_of(node.output()).scale;
    return {float_multiplier_of(encoding_of(node.input(0)).scale / result),
            float_multiplier_of(encoding_of(node.input(1)).scale / result)};
}

std::unique_ptr<ir::Operator> make_add() {
    return std::make_unique<Add>();
}

}  // namespace systole::operators

// The product of two tensors, element by element.
#include "compiler/operators/multiply/multiply.h"

#include <algorithm>

#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {
namespace {

float product_of_floats(float a, float b) {
    return a * b;
}

/// More than 2^17 takes every product but 0 to an end of each type's range.
constexpr double most_product_factor = 0x1p17;

void check_product_scales(const ir::NodeView& node) {
    check_rounding(node);
    if (rounding_of(node.node()) == Rounding::FloatHalfEven) {
        float_product_multiplier(node);
    } else {
        product_scaling(node);
    }
}

class Multiply final : public PairwiseOperator {
public:
    Multiply()
        : PairwiseOperator("multiplies", apply_to_row<product_of_floats>, WordOperation::Multiply,
                           WordOperation::MultiplyInt, apply_to_row<wrapping_multiply>,
                           check_product_scales) {}

    std::string_view name() const override { return "multiply"; }
    std::string_view summary() const override { return "The product of two tensors, element by element."; }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {json_pairwise_layer("multiply"), tflite_pairwise_layer("multiply", "MUL"),
                keras_chain("multiply", "Multiply"), onnx_pair("multiply", "Mul")};
    }

    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{clamp_attribute(),
                                                                        rounding_attribute()};
        return declarations;
    }

    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        if (!pairs_activations(quantizer.view(node))) return quantize_others(node, quantizer);
        quantizer.require_one_width(node);
        ir::Encoding encoding = quantizer.encoding(node.output());
        // The result's multiplier stays below 1: products have 31 bits and must not be shifted to the left.
        const double product_scale =
            quantizer.stored_encoding(node.inputs[0]).scale * quantizer.stored_encoding(node.inputs[1]).scale;
        encoding.scale = std::max(encoding.scale, 2 * product_scale);
        quantizer.add_like(node, encoding);
    }

    void execute(const IntegerCall& call) const override {
        if (rounding_of(call.node.node()) == Rounding::FloatHalfEven) {
            const float multiplier = float_product_multiplier(call.node);
            return scale_products(
                call, [=](std::int32_t product) { return scale_float_to_even(product, multiplier); });
        }
        const bool is_even = rounding_of(call.node.node()) == Rounding::HalfToEven;
        const auto scaling = is_even ? scale_to_even : scale;
        const FixedPoint multiplier = product_scaling(call.node).result;
        scale_products(call, [=](std::int32_t product) {
            return scaling(product, multiplier.multiplier, multiplier.shift);
        });
    }

private:
    template <typename Scaling>
    static void scale_products(const IntegerCall& call, const Scaling& scaling) {
        const Clamp clamp = clamp_of(call.node);
        const std::int32_t zero_point_a = encoding_of(call.node.input(0)).zero_point;
        const std::int32_t zero_point_b = encoding_of(call.node.input(1)).zero_point;
        const std::int32_t zero_point = encoding_of(call.node.output()).zero_point;
        const std::size_t count = call.batch * call.node.output().shape.elements();
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t product =
                std::int64_t{call.inputs[0][i] - zero_point_a} * (call.inputs[1][i] - zero_point_b);
            call.output[i] =
                offset_and_clamp(scaling(wrap(product)), zero_point, clamp.minimum, clamp.maximum);
        }
    }
};

}  // namespace

PairScaling product_scaling(const ir::NodeView& node) {
    const double a = encoding_of(node.input(0)).scale;
    const double b = encoding_of(node.input(1)).scale;
    const double result = encoding_of(node.output()).scale;
    const double factor = rounding_of(node.node()) == Rounding::Tflite
                              ? scale_quotient(a, b, result)
                              : std::min(a * b / result, most_product_factor);
    return {.a = {}, .b = {}, .result = fixed_point_of(factor)};
}

float float_product_multiplier(const ir::NodeView& node) {
    const double a = encoding_of(node.input(0)).scale;
    const double b = encoding_of(node.input(1)).scale;
    return float_multiplier_of(std::min(a * b / encoding_of(node.output()).scale, most_product_factor));
}

std::unique_ptr<ir::Operator> make_multiply() {
    return std::make_unique<Multiply>();
}

}  // namespace systole::operators

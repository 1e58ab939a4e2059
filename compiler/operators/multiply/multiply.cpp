// The element-wise product of two tensors of the same shape.
#include <algorithm>

#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/pairwise.h"

namespace systole::operators {
namespace {

class Multiply final : public PairwiseOperator {
public:
    Multiply() : PairwiseOperator("multiplies") {}

    std::string_view name() const override { return "multiply"; }
    std::string_view summary() const override {
        return "The element-wise product of two tensors of the same shape.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override { return {json_pairwise_layer("multiply")}; }

    void evaluate(const FloatCall& call) const override {
        const std::size_t count = call.batch * call.node.input().shape.elements();
        const float* const a = call.inputs[0];
        const float* const b = call.inputs[1];
        for (std::size_t i = 0; i < count; ++i) call.output[i] = a[i] * b[i];
    }

    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        quantizer.require_one_width(node);
        Encoding encoding = quantizer.encoding(node.output());
        // The result's multiplier stays below 1: products have 31 bits and must not be shifted to the left.
        const double product_scale =
            quantizer.stored_encoding(node.inputs[0]).scale * quantizer.stored_encoding(node.inputs[1]).scale;
        encoding.scale = std::max(encoding.scale, 2 * product_scale);
        quantizer.add_like(node, encoding);
    }

    void execute(const IntegerCall& call) const override {
        const FixedPoint multiplier = work_of(call.node).result;
        const Clamp clamp = clamp_of(call.node);
        const std::int32_t zero_point_a = encoding_of(call.node.input(0)).zero_point;
        const std::int32_t zero_point_b = encoding_of(call.node.input(1)).zero_point;
        const std::int32_t zero_point = encoding_of(call.node.output()).zero_point;
        const std::size_t count = call.batch * call.node.input().shape.elements();
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t product =
                std::int64_t{call.inputs[0][i] - zero_point_a} * (call.inputs[1][i] - zero_point_b);
            const std::int32_t scaled = scale(wrap(product), multiplier.multiplier, multiplier.shift);
            call.output[i] = offset_and_clamp(scaled, zero_point, clamp.minimum, clamp.maximum);
        }
    }

protected:
    mapping::Elementwise work_of(const ir::NodeView& node) const override {
        const double product_scale = encoding_of(node.input(0)).scale * encoding_of(node.input(1)).scale;
        return {.operation = isa::VectorOperation::Multiply,
                .a = {},
                .b = {},
                .result = fixed_point_of(product_scale / encoding_of(node.output()).scale),
                .table = {}};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_multiply() {
    return std::make_unique<Multiply>();
}

}  // namespace systole::operators

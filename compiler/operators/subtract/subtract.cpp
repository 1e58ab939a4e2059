// The difference of two tensors, element by element.
#include "compiler/operators/subtract/subtract.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/encoding.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/scaled_difference.h"

namespace systole::operators {
namespace {

/// As for sums: 20 bits more, or 15 for 16-bit numbers.
constexpr int headroom_of_bytes = 20;
constexpr int headroom_of_16_bits = 15;

float difference_of_floats(float a, float b) {
    return a - b;
}

class Subtract final : public ScaledDifference {
public:
    Subtract()
        : ScaledDifference(PairDefinition{
              .name = "subtract",
              .summary = "The difference of two tensors, element by element.",
              .on_floats = apply_to_row<difference_of_floats>,
              .words = pair_of_words<WordOperation::Subtract>,
              .integer_words = pair_of_words<WordOperation::SubtractInt>,
              .on_integers = apply_to_row<wrapping_subtract>,
              .layers = {onnx_pair("subtract", "Sub"), tflite_pair_with_function("subtract", "SUB"),
                         keras_chain("subtract", "Subtract")}}) {}

    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{clamp_attribute()};
        return declarations;
    }
    void check_types(const ir::NodeView& node) const override {
        check_clamp(node);
        ScaledDifference::check_types(node);
    }

protected:
    bool works_on_quantized(const ir::NodeView& /*node*/) const override { return true; }
    bool clamps() const override { return true; }
    int headroom_bits(const ir::NodeView& node) const override {
        return bytes_of(node.output().type) == 2 ? headroom_of_16_bits : headroom_of_bytes;
    }
    double result_scale(const ir::NodeView& node, double common_scale) const override {
        return std::ldexp(common_scale, -headroom_bits(node));
    }
};

}  // namespace

PairScaling difference_scaling(const ir::NodeView& node) {
    const double a = encoding_of(node.input(0)).scale;
    const double b = encoding_of(node.input(1)).scale;
    const double common = 2 * std::max(a, b);
    return {
        .a = fixed_point_of(a / common),
        .b = fixed_point_of(b / common),
        .result = fixed_point_of(std::ldexp(common, -headroom_of_bytes) / encoding_of(node.output()).scale)};
}

std::unique_ptr<ir::Operator> make_subtract() {
    return std::make_unique<Subtract>();
}

}  // namespace systole::operators

// The difference of two tensors, element by element.
#include <cmath>

#include "compiler/operators/integer_types.h"
#include "compiler/operators/scaled_difference.h"

namespace systole::operators {
namespace {

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
    /// As for sums: 20 bits more, or 15 for 16-bit numbers.
    int headroom_bits(const ir::NodeView& node) const override {
        constexpr int of_bytes = 20;
        constexpr int of_16_bits = 15;
        return bytes_of(node.output().type) == 2 ? of_16_bits : of_bytes;
    }
    double result_scale(const ir::NodeView& node, double common_scale) const override {
        return std::ldexp(common_scale, -headroom_bits(node));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_subtract() {
    return std::make_unique<Subtract>();
}

}  // namespace systole::operators

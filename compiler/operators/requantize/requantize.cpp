// Stores numbers with another scale, zero point or type; those below zero may have a factor of their own.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

class Requantize final : public Operator {
public:
    std::string_view name() const override { return "requantize"; }
    std::string_view summary() const override {
        return "Stores numbers with another scale, zero point or type: zero point + scale(x - x's zero "
               "point, "
               "x's scale / scale), as a fixed-point number.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            clamp_attribute(),
            {.name = "alpha", .meaning = "factor of numbers below 0", .absent = 1.0},
            {.name = "single_precision",
             .meaning = "1: the quotient of the scales is computed in float32",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
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
    Placement placement() const override {
        return {.where = "host; between bytes, files' nodes become a `lookup` instead",
                .formats = "uint8, int8, int16, int32"};
    }
    void check_types(const ir::NodeView& node) const override {
        for (const ir::Value* const value : {&node.input(), &node.output()}) {
            if (is_integer(value->type) && value->quantization && !value->quantization->axis) continue;
            throw ModelError("its input and its result must be integers with one scale each");
        }
        check_clamp(node);
        factor(node, 1.0);
        factor(node, node.node().real("alpha"));
    }
    void execute(const IntegerCall& call) const override {
        const ir::Encoding from = encoding_of(call.node.input());
        const ir::Encoding to = encoding_of(call.node.output());
        const double alpha = call.node.node().real("alpha");
        const FixedPoint above = factor(call.node, 1.0);
        const FixedPoint below = factor(call.node, alpha < 0.0 ? -alpha : alpha);
        const Clamp clamp = clamp_of(call.node);
        const std::size_t count = call.node.output().shape.elements() * call.batch;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t number = wrap(std::int64_t{call.inputs[0][i]} - from.zero_point);
            const FixedPoint& multiplier = number < 0 ? below : above;
            std::int32_t scaled = scale(number, multiplier.multiplier, multiplier.shift);
            if (number < 0 && alpha < 0.0) scaled = wrap(-std::int64_t{scaled});
            call.output[i] = offset_and_clamp(scaled, to.zero_point, clamp.minimum, clamp.maximum);
        }
    }

private:
    /// The multiplier of numbers with a factor of at least 0.
    static FixedPoint factor(const ir::NodeView& node, double alpha) {
        const double from = encoding_of(node.input()).scale;
        const double to = encoding_of(node.output()).scale;
        if (node.node().integer("single_precision") == 0) return fixed_point_of(from * alpha / to);
        return fixed_point_of(
            double{static_cast<float>(from) * static_cast<float>(alpha) / static_cast<float>(to)});
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_requantize() {
    return std::make_unique<Requantize>();
}

}  // namespace systole::operators

// The element-wise sum of two tensors of the same shape.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/names.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/pairwise.h"
#include "hw/math/elementwise.h"

namespace systole::operators {
namespace {

/// Reads a Keras Add, which may have more than two inputs, as a chain of sums.
ir::ValueId read_keras_add(ir::LayerReader& layer) {
    const std::vector<ir::ValueId>& inputs = layer.inputs();
    if (inputs.size() < 2) {
        layer.fail(fmt::format("it has {}; it must have at least 2", ir::counted(inputs.size(), "input")));
    }
    ir::ValueId sum = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) sum = layer.append("add", {}, {sum, inputs[i]});
    return sum;
}

/// As in TFLite, both inputs are converted to twice the larger scale, with 20 or 15 fractional bits.
int headroom_bits(DataType type) {
    return bytes_of(type) == 2 ? math::addition_left_shift_16_bit : math::addition_left_shift_8_bit;
}

double common_scale(const Encoding& a, const Encoding& b) {
    return 2 * std::max(a.scale, b.scale);
}

/// Fails unless the inputs have the width of the stored result, which may be that of a fused function.
void check_widths(const Quantizer& quantizer, const ir::Node& node, ir::ValueId result) {
    if (result == node.output()) return quantizer.require_one_width(node);
    for (const ir::ValueId input : node.inputs) {
        if (bytes_of(quantizer.stored_encoding(input).type) == bytes_of(quantizer.type(result))) continue;
        quantizer.fail(result,
                       "its width differs from that of the partial sum before it; both must be the same");
    }
}

class Add final : public PairwiseOperator {
public:
    Add() : PairwiseOperator("adds") {}

    std::string_view name() const override { return "add"; }
    std::string_view summary() const override {
        return "The element-wise sum of two tensors of the same shape.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {json_pairwise_layer("add"),
                {.format = ir::Format::Keras, .name = "Add", .keys = {}, .build = read_keras_add}};
    }

    void evaluate(const FloatCall& call) const override {
        const std::size_t count = call.batch * call.node.input().shape.elements();
        const float* const a = call.inputs[0];
        const float* const b = call.inputs[1];
        for (std::size_t i = 0; i < count; ++i) call.output[i] = a[i] + b[i];
    }

    /// Includes a ReLU that is the only reader of the result, as the clamp.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        const Encoding a = quantizer.stored_encoding(node.inputs[0]);
        const Encoding b = quantizer.stored_encoding(node.inputs[1]);
        const ir::Node* const function = quantizer.function_after(node.output());
        const auto limit = function == nullptr ? std::nullopt : operator_of(*function).clamp_limit(*function);
        const ir::ValueId result = limit ? function->output() : node.output();
        check_widths(quantizer, node, result);
        Encoding encoding = quantizer.encoding(result);
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
        const mapping::Elementwise work = work_of(call.node);
        const Clamp clamp = clamp_of(call.node);
        const std::int32_t zero_point_a = encoding_of(call.node.input(0)).zero_point;
        const std::int32_t zero_point_b = encoding_of(call.node.input(1)).zero_point;
        const Encoding result = encoding_of(call.node.output());
        const std::int32_t headroom = 1 << headroom_bits(result.type);
        const std::size_t count = call.batch * call.node.input().shape.elements();
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t a = (call.inputs[0][i] - zero_point_a) * headroom;
            const std::int32_t b = (call.inputs[1][i] - zero_point_b) * headroom;
            const std::int32_t sum = wrap(std::int64_t{scale(a, work.a.multiplier, work.a.shift)} +
                                          scale(b, work.b.multiplier, work.b.shift));
            const std::int32_t scaled = scale(sum, work.result.multiplier, work.result.shift);
            call.output[i] = offset_and_clamp(scaled, result.zero_point, clamp.minimum, clamp.maximum);
        }
    }

protected:
    mapping::Elementwise work_of(const ir::NodeView& node) const override {
        const Encoding a = encoding_of(node.input(0));
        const Encoding b = encoding_of(node.input(1));
        const Encoding result = encoding_of(node.output());
        const double common = common_scale(a, b);
        return {.operation = isa::VectorOperation::Add,
                .a = fixed_point_of(a.scale / common),
                .b = fixed_point_of(b.scale / common),
                .result = fixed_point_of(std::ldexp(common, -headroom_bits(result.type)) / result.scale),
                .table = {}};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_add() {
    return std::make_unique<Add>();
}

}  // namespace systole::operators

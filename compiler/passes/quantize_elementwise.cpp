// Quantizes sums and products of two tensors, and activation functions that no layer before them takes over.
#include <algorithm>
#include <cmath>

#include "compiler/passes/quantizer.h"
#include "hw/base/fixed_point.h"
#include "hw/math/elementwise.h"

namespace systole::passes {

using quantized::TensorId;

namespace {

/// A function fused into element-wise work gives the width of what is stored.
void check_widths(const Quantizer& quantizer, const ir::Node& node, ir::ValueId result) {
    if (result == node.output()) return quantizer.require_one_width(node);
    for (const ir::ValueId input : node.inputs) {
        if (bytes_of(quantizer.tensor(quantizer.tensor_of(input)).type) == bytes_of(quantizer.type(result))) {
            continue;
        }
        quantizer.fail(result, "its bits are not those of what is added before it; both must have as many");
    }
}

}  // namespace

bool quantize_add(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("add")) return false;
    const TensorId a = quantizer.tensor_of(node.inputs[0]);
    const TensorId b = quantizer.tensor_of(node.inputs[1]);

    const ir::Node* const function = quantizer.function_after(node.output());
    const auto limit = function == nullptr ? std::nullopt : Quantizer::clamp_limit(*function);
    const ir::ValueId result = limit ? function->output() : node.output();
    check_widths(quantizer, node, result);
    Encoding encoding = quantizer.encoding(result);

    // As TFLite: both inputs are brought to twice the larger scale, with 20 or 15 bits below the point.
    const int input_shift =
        bytes_of(encoding.type) == 2 ? math::wide_addition_left_shift : math::addition_left_shift;
    const double scale_a = quantizer.tensor(a).scale;
    const double scale_b = quantizer.tensor(b).scale;
    const double common = 2 * std::max(scale_a, scale_b);
    // Where the inputs all but cancel: the result's multiplier stays below 1, so that nothing overflows.
    encoding.scale = std::max(encoding.scale, std::ldexp(common, 1 - input_shift));
    const auto fixed_a = to_fixed_point(scale_a / common);
    const auto fixed_b = to_fixed_point(scale_b / common);
    const auto fixed = to_fixed_point(std::ldexp(common, -input_shift) / encoding.scale);

    quantized::Add add{.multiplier_a = fixed_a.multiplier,
                       .multiplier_b = fixed_b.multiplier,
                       .multiplier = fixed.multiplier,
                       .shift_a = fixed_a.shift,
                       .shift_b = fixed_b.shift,
                       .shift = fixed.shift,
                       .minimum = lowest_of(encoding.type),
                       .maximum = highest_of(encoding.type)};
    if (limit) {
        add.minimum = encoding.zero_point;
        add.maximum = encoding.stored(*limit);
    }
    const TensorId output = quantizer.add_tensor(result, encoding);
    quantizer.share_tensor(node.output(), output);
    quantizer.add_layer(node, {a, b}, output, add);
    return true;
}

bool quantize_multiply(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("multiply")) return false;
    quantizer.require_one_width(node);
    const TensorId a = quantizer.tensor_of(node.inputs[0]);
    const TensorId b = quantizer.tensor_of(node.inputs[1]);
    Encoding encoding = quantizer.encoding(node.output());
    // The result's multiplier stays below 1, so that no product, which has 31 bits, is shifted to the left.
    const double product_scale = quantizer.tensor(a).scale * quantizer.tensor(b).scale;
    encoding.scale = std::max(encoding.scale, 2 * product_scale);
    const auto fixed = to_fixed_point(product_scale / encoding.scale);
    const TensorId output = quantizer.add_tensor(node.output(), encoding);
    quantizer.add_layer(node, {a, b}, output,
                        quantized::Multiply{.multiplier = fixed.multiplier,
                                            .shift = fixed.shift,
                                            .minimum = lowest_of(encoding.type),
                                            .maximum = highest_of(encoding.type)});
    return true;
}

bool quantize_function(Quantizer& quantizer, const ir::Node& node) {
    if (!operators::operator_of(node).function(node)) return false;
    quantizer.require_one_width(node);
    const TensorId input = quantizer.tensor_of(node.inputs[0]);
    const Encoding encoding = quantizer.encoding(node.output());
    const auto table =
        make_table(Quantizer::function_of(node), encoding_of(quantizer.tensor(input)), encoding);
    const TensorId output = quantizer.add_tensor(node.output(), encoding);
    quantizer.add_layer(node, {input}, output, quantized::Lookup{table});
    return true;
}

}  // namespace systole::passes

// Quantizes sums and products of two tensors, and activation functions that no layer before them takes over.
#include <algorithm>
#include <cmath>

#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/add.h"
#include "compiler/graph/operators/multiply.h"
#include "compiler/passes/quantizer.h"
#include "hw/base/fixed_point.h"
#include "hw/math/elementwise.h"

namespace systole::passes {

using graph::NodeId;
using quantized::TensorId;

namespace {

/// A function fused into element-wise work gives the width of what is stored.
void check_widths(const Quantizer& quantizer, NodeId id, NodeId result) {
    if (result == id) return quantizer.require_one_width(id);
    for (std::size_t input = 0; input < quantizer.node(id).inputs.size(); ++input) {
        if (bytes_of(quantizer.tensor(quantizer.input_of(id, input)).type) ==
            bytes_of(quantizer.type(result))) {
            continue;
        }
        quantizer.fail(result, "its bits are not those of what is added before it; both must have as many");
    }
}

}  // namespace

bool quantize_add(Quantizer& quantizer, NodeId id) {
    if (dynamic_cast<const graph::Add*>(quantizer.node(id).op.get()) == nullptr) return false;
    const TensorId a = quantizer.input_of(id, 0);
    const TensorId b = quantizer.input_of(id, 1);

    const auto activation = quantizer.activation_after(id);
    const bool clamps =
        activation && quantizer.activation(*activation).function == graph::ActivationFunction::Relu;
    const NodeId result = clamps ? *activation : id;
    check_widths(quantizer, id, result);
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
    if (clamps) {
        add.minimum = encoding.zero_point;
        add.maximum = encoding.stored(quantizer.activation(*activation).maximum);
    }
    const TensorId output = quantizer.add_tensor(result, encoding);
    quantizer.share_tensor(id, output);
    quantizer.add_layer(id, {a, b}, output, add);
    return true;
}

bool quantize_multiply(Quantizer& quantizer, NodeId id) {
    if (dynamic_cast<const graph::Multiply*>(quantizer.node(id).op.get()) == nullptr) return false;
    quantizer.require_one_width(id);
    const TensorId a = quantizer.input_of(id, 0);
    const TensorId b = quantizer.input_of(id, 1);
    Encoding encoding = quantizer.encoding(id);
    // The result's multiplier stays below 1, so that no product, which has 31 bits, is shifted to the left.
    const double product_scale = quantizer.tensor(a).scale * quantizer.tensor(b).scale;
    encoding.scale = std::max(encoding.scale, 2 * product_scale);
    const auto fixed = to_fixed_point(product_scale / encoding.scale);
    const TensorId output = quantizer.add_tensor(id, encoding);
    quantizer.add_layer(id, {a, b}, output,
                        quantized::Multiply{.multiplier = fixed.multiplier,
                                            .shift = fixed.shift,
                                            .minimum = lowest_of(encoding.type),
                                            .maximum = highest_of(encoding.type)});
    return true;
}

bool quantize_activation(Quantizer& quantizer, NodeId id) {
    if (dynamic_cast<const graph::Activation*>(quantizer.node(id).op.get()) == nullptr) return false;
    quantizer.require_one_width(id);
    const TensorId input = quantizer.input_of(id);
    const Encoding encoding = quantizer.encoding(id);
    const auto table = make_table(quantizer.activation(id), encoding_of(quantizer.tensor(input)), encoding);
    const TensorId output = quantizer.add_tensor(id, encoding);
    quantizer.add_layer(id, {input}, output, quantized::Lookup{table});
    return true;
}

}  // namespace systole::passes

// Quantizes sums of two tensors, and activation functions that no layer before them takes over.
#include <algorithm>
#include <cmath>

#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/add.h"
#include "compiler/passes/quantizer.h"
#include "hw/math/fixed_point.h"

namespace systole::passes {

using graph::NodeId;
using quantized::TensorId;

bool quantize_add(Quantizer& quantizer, NodeId id) {
    if (dynamic_cast<const graph::Add*>(quantizer.node(id).op.get()) == nullptr) return false;
    const TensorId a = quantizer.input_of(id, 0);
    const TensorId b = quantizer.input_of(id, 1);

    const auto activation = quantizer.activation_after(id);
    const bool clamps =
        activation && quantizer.activation(*activation).function == graph::ActivationFunction::Relu;
    const NodeId result = clamps ? *activation : id;
    Encoding encoding = encoding_of(quantizer.range(result));

    // As TFLite: both inputs are brought to twice the larger scale, with 20 bits below the point.
    constexpr int input_shift = 20;
    const double scale_a = quantizer.tensor(a).scale;
    const double scale_b = quantizer.tensor(b).scale;
    const double common = 2 * std::max(scale_a, scale_b);
    // Where the inputs all but cancel: the result's multiplier stays below 1, so that nothing overflows.
    encoding.scale = std::max(encoding.scale, std::ldexp(common, 1 - input_shift));
    const auto fixed_a = math::to_fixed_point(scale_a / common);
    const auto fixed_b = math::to_fixed_point(scale_b / common);
    const auto fixed = math::to_fixed_point(std::ldexp(common, -input_shift) / encoding.scale);

    quantized::Add add{.multiplier_a = fixed_a.multiplier,
                       .multiplier_b = fixed_b.multiplier,
                       .multiplier = fixed.multiplier,
                       .shift_a = fixed_a.shift,
                       .shift_b = fixed_b.shift,
                       .shift = fixed.shift,
                       .minimum = 0,
                       .maximum = largest_byte};
    if (clamps) {
        add.minimum = encoding.zero_point;
        add.maximum = encoding.byte(quantizer.activation(*activation).maximum);
    }
    const TensorId output = quantizer.add_tensor(result, encoding);
    quantizer.share_tensor(id, output);
    quantizer.add_layer(id, {a, b}, output, add);
    return true;
}

bool quantize_activation(Quantizer& quantizer, NodeId id) {
    if (dynamic_cast<const graph::Activation*>(quantizer.node(id).op.get()) == nullptr) return false;
    const TensorId input = quantizer.input_of(id);
    const Encoding encoding = encoding_of(quantizer.range(id));
    const auto table = tabulate(quantizer.activation(id), encoding_of(quantizer.tensor(input)), encoding);
    const TensorId output = quantizer.add_tensor(id, encoding);
    quantizer.add_layer(id, {input}, output, quantized::Lookup{table});
    return true;
}

}  // namespace systole::passes

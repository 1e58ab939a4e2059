#pragma once

#include <cstdint>
#include <functional>

#include "compiler/ir/encoding.h"
#include "compiler/ir/layer_kind.h"

/// Reading of TFLite's functions of one number. On 8-bit integers they become a `lookup` in a table of the
/// runtime's own results; on 16-bit integers an operator that computes them for the host.
namespace systole::operators {

/// Appends the function of an operator on the first input: a `lookup`, or the operator itself on float32.
ir::ValueId append_function(ir::LayerReader& layer, std::string_view op, float (*function)(float));
/// A node that is such a function.
ir::LayerKind tflite_function_layer(std::string_view op, const char* name, float (*function)(float));
/// LOGISTIC and TANH, which also have a rule for 16 bits.
ir::LayerKind tflite_sigmoid_layer(std::string_view op, const char* name, float (*function)(float));
/// RELU, RELU6, RELU_0_TO_1 and RELU_N1_TO_1: between two limits.
ir::LayerKind tflite_limit_layer(const char* name, float minimum, float maximum);
ir::LayerKind tflite_leaky_relu();
/// LOG and RSQRT, which have rules of their own for what is not above 0.
ir::LayerKind tflite_log();
ir::LayerKind tflite_rsqrt();
ir::LayerKind tflite_hard_swish();
/// QUANTIZE, from float32 or from other integers.
ir::LayerKind tflite_quantize();
ir::LayerKind tflite_dequantize();

/// Appends a lookup of 8-bit numbers whose table holds function(stored) for each stored number.
ir::ValueId append_table(ir::LayerReader& layer, ir::ValueId from, const ir::ResultType& to,
                         const std::function<std::int32_t(std::int32_t)>& function);

/// The stored number that TFLite's 8-bit hard-swish gives: in 16 bits, with multipliers of 15 bits.
std::int32_t hard_swish_stored(std::int32_t stored, const ir::Encoding& from, const ir::Encoding& to);

}  // namespace systole::operators

// The magnitude of x.
#include <cmath>
#include <cstdlib>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float abs_of(float x, const FunctionParameters& /*parameters*/) {
    return std::abs(x);
}

Word abs_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return absolute(x);
}

/// TFLite's rule for bytes: the magnitude, scaled to the result.
ir::ValueId append_byte_abs(ir::LayerReader& layer, ir::ValueId x, const ir::ResultType& result) {
    const ir::Encoding from = encoding_of(layer.value(x));
    const ir::Encoding to{.scale = result.quantization->scales.front(),
                          .zero_point = result.quantization->zero_points.front(),
                          .type = result.type};
    const FixedPoint factor = fixed_point_of(from.scale / to.scale);
    return append_table(layer, x, result, [=](std::int32_t stored) {
        const std::int32_t magnitude = std::abs(stored - from.zero_point);
        return offset_and_clamp(scale(magnitude, factor.multiplier, factor.shift), to.zero_point,
                                lowest_of(to.type), highest_of(to.type));
    });
}

/// A node of a file; on integers, it becomes others.
ir::LayerKind abs_node(ir::Format format, const char* name) {
    return {.format = format, .name = name, .build = [format](ir::LayerReader& layer) {
                const ir::ValueId x = input_of(layer, 0);
                const DataType type = layer.value(x).type;
                const bool has_bytes = type == DataType::Uint8 || type == DataType::Int8;
                if (format == ir::Format::Tflite && has_bytes && layer.value(x).quantization) {
                    const ir::ResultType result = layer.declared_result(0);
                    if (result.type != type || !result.quantization)
                        layer.fail("its result must be of its input's type, with a scale");
                    return append_byte_abs(layer, x, result);
                }
                if (type == DataType::Float32 || layer.value(x).quantization)
                    return append_same(layer, "abs", {}, {x});
                const ir::ValueId zero = layer.append_as({.type = type}, "subtract", {}, {x, x});
                return layer.append("maximum", {}, {x, layer.append("subtract", {}, {zero, x})});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_abs() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "abs",
                           .summary = "The magnitude of x.",
                           .apply = apply_to_all<abs_of>,
                           .words = abs_words,
                           .layers = {json_function_layer("abs"), abs_node(ir::Format::Onnx, "Abs"),
                                      abs_node(ir::Format::Tflite, "ABS")},
                           .functions = {{ir::Format::GraphJson, "abs"}}});
}

}  // namespace systole::operators

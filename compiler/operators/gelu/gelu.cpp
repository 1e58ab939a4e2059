// x times the probability that a normal variable is below x.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float gelu_of(float x, const FunctionParameters& /*parameters*/) {
    constexpr float root_of_half = 0.70710678F;
    return 0.5F * x * (1.0F + std::erf(x * root_of_half));
}

Word gelu_words(const Word& x, const FunctionParameters& /*parameters*/) {
    constexpr float root_of_half = 0.70710678F;
    return 0.5F * x * (1.0F + erf(x * root_of_half));
}

// TFLite's formulas, by which it makes its tables for bytes.
float runtime_gelu(float x) {
    constexpr float minus_root_of_half = -0.70710678F;
    return 0.5F * x * std::erfc(x * minus_root_of_half);
}
float runtime_gelu_tanh(float x) {
    constexpr auto factor = static_cast<float>(M_2_SQRTPI * M_SQRT1_2);
    return 0.5F * x * (1.0F + std::tanh(factor * (x + 0.044715F * x * x * x)));
}

ir::LayerKind onnx_gelu() {
    return {.format = ir::Format::Onnx,
            .name = "Gelu",
            .keys = {{"approximate", "tanh: a `gelu_tanh`"}},
            .build = [](ir::LayerReader& layer) {
                const bool approximate = layer.text("approximate", "none") == "tanh";
                return layer.append(approximate ? "gelu_tanh" : "gelu", {}, {input_of(layer, 0)});
            }};
}

ir::LayerKind tflite_gelu() {
    return {.format = ir::Format::Tflite,
            .name = "GELU",
            .keys = {{"approximate", "whether it is a `gelu_tanh`"}},
            .build = [](ir::LayerReader& layer) {
                if (flag_of(layer, "approximate", false)) {
                    return append_function(layer, "gelu_tanh", runtime_gelu_tanh);
                }
                return append_function(layer, "gelu", runtime_gelu);
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_gelu() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "gelu",
                           .summary = "x times the probability that a normal variable is below x.",
                           .apply = apply_to_all<gelu_of>,
                           .words = gelu_words,
                           .layers = {json_function_layer("gelu"), onnx_gelu(), tflite_gelu()},
                           .functions = {{ir::Format::Keras, "gelu"}, {ir::Format::GraphJson, "gelu"}}});
}

}  // namespace systole::operators

// x * min(max(x + 3, 0), 6) / 6: swish without an exponential.
#include <algorithm>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float hard_swish_of(float x, const FunctionParameters& /*parameters*/) {
    constexpr float half_width = 3.0F;
    constexpr float width = 6.0F;
    return x * std::clamp(x + half_width, 0.0F, width) / width;
}

Word hard_swish_words(const Word& x, const FunctionParameters& /*parameters*/) {
    constexpr float half_width = 3.0F;
    constexpr float width = 6.0F;
    return x * minimum(maximum(x + half_width, 0.0F), width) / width;
}

}  // namespace

std::unique_ptr<ir::Operator> make_hard_swish() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "hard_swish",
                           .summary = "x * min(max(x + 3, 0), 6) / 6: swish without an exponential.",
                           .apply = apply_to_all<hard_swish_of>,
                           .words = hard_swish_words,
                           .layers = {json_function_layer("hard_swish"),
                                      onnx_function("hard_swish", "HardSwish"), tflite_hard_swish()},
                           .functions = {{ir::Format::GraphJson, "hard_swish"},
                                         {ir::Format::Keras, "hard_swish"},
                                         {ir::Format::Keras, "hard_silu"}}});
}

}  // namespace systole::operators

// 1 divided by the square root.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float rsqrt_of(float x, const FunctionParameters& /*parameters*/) {
    return 1.0F / std::sqrt(x);
}

Word rsqrt_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return rsqrt(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_rsqrt() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "rsqrt",
                           .summary = "1 divided by the square root.",
                           .apply = apply_to_all<rsqrt_of>,
                           .words = rsqrt_words,
                           .layers = {json_function_layer("rsqrt"), tflite_rsqrt()},
                           .functions = {{ir::Format::GraphJson, "rsqrt"}}});
}

}  // namespace systole::operators

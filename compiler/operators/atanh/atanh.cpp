// The inverse hyperbolic tangent.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float atanh_of(float x, const FunctionParameters& /*parameters*/) {
    return std::atanh(x);
}

Word atanh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return 0.5F * (log1p(x) - log1p(-x));
}

}  // namespace

std::unique_ptr<ir::Operator> make_atanh() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "atanh",
                           .summary = "The inverse hyperbolic tangent.",
                           .apply = apply_to_all<atanh_of>,
                           .words = atanh_words,
                           .layers = {json_function_layer("atanh"), onnx_function("atanh", "Atanh")},
                           .functions = {{ir::Format::GraphJson, "atanh"}}});
}

}  // namespace systole::operators

// x for x >= 0, alpha * (exp(x / alpha) - 1) for x < 0.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float celu_of(float x, const FunctionParameters& parameters) {
    return x >= 0.0F ? x : parameters.alpha * std::expm1(x / parameters.alpha);
}

Word celu_words(const Word& x, const FunctionParameters& parameters) {
    return select(less_equal(0.0F, x), x, parameters.alpha * expm1(x / parameters.alpha));
}

}  // namespace

std::unique_ptr<ir::Operator> make_celu() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "celu",
                           .summary = "x for x >= 0, alpha * (exp(x / alpha) - 1) for x < 0.",
                           .apply = apply_to_all<celu_of>,
                           .words = celu_words,
                           .attributes = {alpha_attribute("minus the limit towards minus infinity")},
                           .layers = {json_alpha_layer("celu"), onnx_alpha_function("celu", "Celu", 1.0F)},
                           .functions = {{ir::Format::Keras, "celu", {{"alpha", 1.0}}}}});
}

}  // namespace systole::operators

// x for x >= 0, alpha * (exp(x) - 1) for x < 0.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float elu_of(float x, const FunctionParameters& parameters) {
    return x >= 0.0F ? x : parameters.alpha * std::expm1(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_elu() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "elu",
                           .summary = "x for x >= 0, alpha * (exp(x) - 1) for x < 0.",
                           .apply = apply_to_all<elu_of>,
                           .attributes = {alpha_attribute("minus the limit towards minus infinity")},
                           .layers = {json_alpha_layer("elu")},
                           .functions = {{ir::Format::Keras, "elu", {{"alpha", 1.0}}}}});
}

}  // namespace systole::operators

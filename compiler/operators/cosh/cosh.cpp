// The hyperbolic cosine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float cosh_of(float x, const FunctionParameters& /*parameters*/) {
    return std::cosh(x);
}

/// The square of exp(|x| / 2) overflows only where the result does.
Word cosh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    const Word root = exp(0.5F * absolute(x));
    return 0.5F * root * root + 0.5F / (root * root);
}

}  // namespace

std::unique_ptr<ir::Operator> make_cosh() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "cosh",
                           .summary = "The hyperbolic cosine.",
                           .apply = apply_to_all<cosh_of>,
                           .words = cosh_words,
                           .layers = {json_function_layer("cosh"), onnx_function("cosh", "Cosh")},
                           .functions = {{ir::Format::GraphJson, "cosh"}}});
}

}  // namespace systole::operators

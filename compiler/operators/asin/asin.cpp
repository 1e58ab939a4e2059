// The inverse sine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float asin_of(float x, const FunctionParameters& /*parameters*/) {
    return std::asin(x);
}

/// The angle of the point (sqrt(1 - x^2), x).
Word asin_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return apply(WordOperation::ArcTangent, {x, sqrt((1.0F - x) * (1.0F + x))});
}

}  // namespace

std::unique_ptr<ir::Operator> make_asin() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "asin",
                           .summary = "The inverse sine.",
                           .apply = apply_to_all<asin_of>,
                           .words = asin_words,
                           .layers = {json_function_layer("asin"), onnx_function("asin", "Asin")},
                           .functions = {{ir::Format::GraphJson, "asin"}}});
}

}  // namespace systole::operators

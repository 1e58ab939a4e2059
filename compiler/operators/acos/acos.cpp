// The inverse cosine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float acos_of(float x, const FunctionParameters& /*parameters*/) {
    return std::acos(x);
}

/// The angle of the point (x, sqrt(1 - x^2)).
Word acos_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return apply(WordOperation::ArcTangent, {sqrt((1.0F - x) * (1.0F + x)), x});
}

}  // namespace

std::unique_ptr<ir::Operator> make_acos() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "acos",
                           .summary = "The inverse cosine.",
                           .apply = apply_to_all<acos_of>,
                           .words = acos_words,
                           .layers = {json_function_layer("acos"), onnx_function("acos", "Acos")},
                           .functions = {{ir::Format::GraphJson, "acos"}}});
}

}  // namespace systole::operators

// The inverse tangent.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float atan_of(float x, const FunctionParameters& /*parameters*/) {
    return std::atan(x);
}

Word atan_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return apply(WordOperation::ArcTangent, {x, 1.0F});
}

}  // namespace

std::unique_ptr<ir::Operator> make_atan() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "atan",
                           .summary = "The inverse tangent.",
                           .apply = apply_to_all<atan_of>,
                           .words = atan_words,
                           .layers = {json_function_layer("atan"), onnx_function("atan", "Atan")},
                           .functions = {{ir::Format::GraphJson, "atan"}}});
}

}  // namespace systole::operators

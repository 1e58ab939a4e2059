// The tangent.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float tan_of(float x, const FunctionParameters& /*parameters*/) {
    return std::tan(x);
}

Word tan_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return apply(WordOperation::Tangent, {x});
}

}  // namespace

std::unique_ptr<ir::Operator> make_tan() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "tan",
                           .summary = "The tangent.",
                           .apply = apply_to_all<tan_of>,
                           .words = tan_words,
                           .layers = {json_function_layer("tan"), onnx_function("tan", "Tan")},
                           .functions = {{ir::Format::GraphJson, "tan"}}});
}

}  // namespace systole::operators

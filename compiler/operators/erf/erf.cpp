// The error function.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float erf_of(float x, const FunctionParameters& /*parameters*/) {
    return std::erf(x);
}

Word erf_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return erf(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_erf() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "erf",
                           .summary = "The error function.",
                           .apply = apply_to_all<erf_of>,
                           .words = erf_words,
                           .layers = {json_function_layer("erf"), onnx_function("erf", "Erf")},
                           .functions = {{ir::Format::GraphJson, "erf"}}});
}

}  // namespace systole::operators

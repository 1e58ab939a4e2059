// x / (1 + |x|).
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float softsign_of(float x, const FunctionParameters& /*parameters*/) {
    return x / (1.0F + std::abs(x));
}

Word softsign_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return x / (1.0F + absolute(x));
}

}  // namespace

std::unique_ptr<ir::Operator> make_softsign() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "softsign",
        .summary = "x / (1 + |x|).",
        .apply = apply_to_all<softsign_of>,
        .words = softsign_words,
        .layers = {json_function_layer("softsign"), onnx_function("softsign", "Softsign")},
        .functions = {{ir::Format::Keras, "softsign"}, {ir::Format::GraphJson, "softsign"}}});
}

}  // namespace systole::operators

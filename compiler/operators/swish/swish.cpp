// x / (1 + exp(-x)).
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float swish_of(float x, const FunctionParameters& /*parameters*/) {
    return x / (1.0F + std::exp(-x));
}

Word swish_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return x * logistic(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_swish() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "swish",
        .summary = "x / (1 + exp(-x)).",
        .apply = apply_to_all<swish_of>,
        .words = swish_words,
        .layers = {json_function_layer("swish")},
        .functions = {
            {ir::Format::GraphJson, "swish"}, {ir::Format::Keras, "swish"}, {ir::Format::Keras, "silu"}}});
}

}  // namespace systole::operators

// 1 / x.
#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float reciprocal_of(float x, const FunctionParameters& /*parameters*/) {
    return 1.0F / x;
}

Word reciprocal_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return 1.0F / x;
}

}  // namespace

std::unique_ptr<ir::Operator> make_reciprocal() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "reciprocal",
        .summary = "1 / x.",
        .apply = apply_to_all<reciprocal_of>,
        .words = reciprocal_words,
        .layers = {json_function_layer("reciprocal"), onnx_function("reciprocal", "Reciprocal")},
        .functions = {{ir::Format::GraphJson, "reciprocal"}}});
}

}  // namespace systole::operators

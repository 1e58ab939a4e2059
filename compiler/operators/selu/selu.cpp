// The function of self-normalizing networks: exponential for x < 0, linear for x >= 0.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float selu_of(float x, const FunctionParameters& parameters) {
    return parameters.beta * (x >= 0.0F ? x : parameters.alpha * std::expm1(x));
}

Word selu_words(const Word& x, const FunctionParameters& parameters) {
    return parameters.beta * select(less_equal(0.0F, x), x, parameters.alpha * expm1(x));
}

/// The constants of self-normalizing networks.
constexpr float selu_scale = 1.05070098F;
constexpr float selu_limit = 1.67326324F;

ir::LayerKind onnx_selu() {
    return {.format = ir::Format::Onnx,
            .name = "Selu",
            .keys = {{"alpha", "`alpha`"}, {"gamma", "`beta`"}},
            .build = [](ir::LayerReader& layer) {
                return layer.append("selu",
                                    {{"alpha", double{layer.number("alpha", selu_limit)}},
                                     {"beta", double{layer.number("gamma", selu_scale)}}},
                                    {input_of(layer, 0)});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_selu() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "selu",
        .summary = "The function of self-normalizing networks: exponential for x < 0, linear for x >= 0.",
        .apply = apply_to_all<selu_of>,
        .words = selu_words,
        .attributes = {{.name = "alpha",
                        .meaning = "minus the limit towards minus infinity, by beta",
                        .absent = double{selu_limit}},
                       {.name = "beta", .meaning = "factor of the result", .absent = double{selu_scale}}},
        .layers = {json_function_layer("selu"), onnx_selu()},
        .functions = {{ir::Format::GraphJson, "selu"}, {ir::Format::Keras, "selu"}}});
}

}  // namespace systole::operators

// alpha * x + beta, clamped between 0 and 1.
#include <algorithm>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float hard_sigmoid_of(float x, const FunctionParameters& parameters) {
    return std::clamp(parameters.alpha * x + parameters.beta, 0.0F, 1.0F);
}

Word hard_sigmoid_words(const Word& x, const FunctionParameters& parameters) {
    return minimum(maximum(parameters.alpha * x + parameters.beta, 0.0F), 1.0F);
}

/// Of ONNX, and of Keras before 3.
constexpr float hard_sigmoid_slope = 0.2F;
constexpr float hard_sigmoid_middle = 0.5F;
/// The same name means another function from Keras 3 on; the reader gives it this project's own name.
constexpr double keras_3_hard_sigmoid_slope = 1.0 / 6.0;

ir::LayerKind onnx_hard_sigmoid() {
    return {.format = ir::Format::Onnx,
            .name = "HardSigmoid",
            .keys = {{"alpha", "`alpha`"}, {"beta", "`beta`"}},
            .build = [](ir::LayerReader& layer) {
                return layer.append("hard_sigmoid",
                                    {{"alpha", double{layer.number("alpha", hard_sigmoid_slope)}},
                                     {"beta", double{layer.number("beta", hard_sigmoid_middle)}}},
                                    {input_of(layer, 0)});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_hard_sigmoid() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "hard_sigmoid",
        .summary = "alpha * x + beta, clamped between 0 and 1.",
        .apply = apply_to_all<hard_sigmoid_of>,
        .words = hard_sigmoid_words,
        .attributes = {{.name = "alpha", .meaning = "slope", .absent = double{hard_sigmoid_slope}},
                       {.name = "beta", .meaning = "value at 0", .absent = double{hard_sigmoid_middle}}},
        .layers = {onnx_hard_sigmoid()},
        .functions = {{ir::Format::Keras, "hard_sigmoid"},
                      {ir::Format::Keras,
                       "hard_sigmoid of Keras 3",
                       {{"alpha", keras_3_hard_sigmoid_slope}, {"beta", double{hard_sigmoid_middle}}}}}});
}

}  // namespace systole::operators

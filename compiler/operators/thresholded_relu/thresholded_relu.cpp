// x above alpha, else 0.
#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float thresholded_relu_of(float x, const FunctionParameters& parameters) {
    return x > parameters.alpha ? x : 0.0F;
}

Word thresholded_relu_words(const Word& x, const FunctionParameters& parameters) {
    return select(less(parameters.alpha, x), x, 0.0F);
}

ir::LayerKind keras_thresholded_relu() {
    return {.format = ir::Format::Keras,
            .name = "ThresholdedReLU",
            .keys = {{"theta", "`alpha`"}},
            .build = [](ir::LayerReader& layer) {
                return layer.append("thresholded_relu", {{"alpha", double{layer.number("theta", 1.0F)}}},
                                    {layer.input()});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_thresholded_relu() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "thresholded_relu",
                           .summary = "x above alpha, else 0.",
                           .apply = apply_to_all<thresholded_relu_of>,
                           .words = thresholded_relu_words,
                           .attributes = {alpha_attribute("the threshold")},
                           .layers = {json_alpha_layer("thresholded_relu"),
                                      onnx_alpha_function("thresholded_relu", "ThresholdedRelu", 1.0F),
                                      keras_thresholded_relu()}});
}

}  // namespace systole::operators

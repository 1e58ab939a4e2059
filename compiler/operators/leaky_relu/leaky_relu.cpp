// x for x >= 0, alpha * x for x < 0.
#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float leaky_relu_of(float x, const FunctionParameters& parameters) {
    return x >= 0.0F ? x : parameters.alpha * x;
}

Word leaky_relu_words(const Word& x, const FunctionParameters& parameters) {
    return select(less_equal(0.0F, x), x, parameters.alpha * x);
}

ir::LayerKind keras_leaky_relu() {
    return {.format = ir::Format::Keras,
            .name = "LeakyReLU",
            .keys = {{"negative_slope", "`alpha`"}, {"alpha", "`alpha`, in Keras before 3"}},
            .build = [](ir::LayerReader& layer) {
                constexpr float default_slope = 0.3F;
                const char* const key = layer.has("negative_slope") ? "negative_slope" : "alpha";
                return layer.append("leaky_relu", {{"alpha", double{layer.number(key, default_slope)}}},
                                    {layer.input()});
            }};
}

class LeakyRelu final : public FunctionOperator {
public:
    using FunctionOperator::FunctionOperator;

    bool scales_with_input(const ir::Node& /*node*/) const override { return true; }
};

}  // namespace

std::unique_ptr<ir::Operator> make_leaky_relu() {
    constexpr float function_slope = 0.2F;  // Keras' default for the function given by name
    return std::make_unique<LeakyRelu>(FunctionDefinition{
        .name = "leaky_relu",
        .summary = "x for x >= 0, alpha * x for x < 0.",
        .apply = apply_to_all<leaky_relu_of>,
        .words = leaky_relu_words,
        .attributes = {alpha_attribute("slope below 0")},
        .layers = {keras_leaky_relu(), json_alpha_layer("leaky_relu"),
                   onnx_alpha_function("leaky_relu", "LeakyRelu", 0.01F), tflite_leaky_relu()},
        .functions = {{ir::Format::Keras, "leaky_relu", {{"alpha", double{function_slope}}}}}});
}

}  // namespace systole::operators

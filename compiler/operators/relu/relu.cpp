// x clamped between 0 and a limit, which may be infinite.
#include <algorithm>
#include <limits>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

float relu_of(float x, const FunctionParameters& parameters) {
    return std::min(std::max(x, 0.0F), parameters.maximum);
}

Word relu_words(const Word& x, const FunctionParameters& parameters) {
    const Word result = maximum(x, 0.0F);
    const bool is_limited = parameters.maximum < std::numeric_limits<float>::infinity();
    return is_limited ? minimum(result, parameters.maximum) : result;
}

/// Reads a Keras ReLU; one with a negative_slope becomes a leaky ReLU.
ir::ValueId read_keras_relu(ir::LayerReader& layer) {
    constexpr float unlimited = std::numeric_limits<float>::infinity();
    const float maximum = layer.number("max_value", unlimited);
    if (maximum < 0.0F) layer.fail("max_value", "it must be at least 0");
    if (layer.number("threshold", 0.0F) != 0.0F) layer.fail("threshold", "only 0 is supported");
    const float slope = layer.number("negative_slope", 0.0F);
    if (slope == 0.0F) return layer.append("relu", {{"maximum", double{maximum}}}, {layer.input()});
    if (maximum != unlimited) layer.fail("negative_slope", "it must be 0 where there is a max_value");
    return layer.append("leaky_relu", {{"alpha", double{slope}}}, {layer.input()});
}

ir::ValueId read_json_relu(ir::LayerReader& layer) {
    const float maximum = layer.number("maximum", std::numeric_limits<float>::infinity());
    if (maximum < 0.0F) layer.fail("maximum", "it must be at least 0");
    return layer.append("relu", {{"maximum", double{maximum}}}, {layer.input()});
}

class Relu final : public FunctionOperator {
public:
    using FunctionOperator::FunctionOperator;

    std::optional<float> clamp_limit(const ir::Node& node) const override {
        return static_cast<float>(node.real("maximum"));
    }
    bool scales_with_input(const ir::Node& node) const override { return node.real("maximum") == no_limit; }
    Placement placement() const override {
        return {.where = "as the clamp of matrix work or a sum if it is the only reader, else as a `lookup`",
                .formats = "float32"};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_relu() {
    constexpr double relu6_maximum = 6.0;
    constexpr float unlimited = std::numeric_limits<float>::infinity();
    return std::make_unique<Relu>(FunctionDefinition{
        .name = "relu",
        .summary = "x clamped between 0 and a limit, which may be infinite.",
        .apply = apply_to_all<relu_of>,
        .words = relu_words,
        .attributes = {{.name = "maximum", .meaning = "the limit", .absent = no_limit, .minimum = 0.0}},
        .layers = {{.format = ir::Format::Keras,
                    .name = "ReLU",
                    .keys = {{"max_value", "`maximum`"},
                             {"negative_slope", "other than 0, it makes the layer a `leaky_relu`"},
                             {"threshold", "only 0"}},
                    .build = read_keras_relu},
                   onnx_function("relu", "Relu"),
                   {.format = ir::Format::GraphJson,
                    .name = "relu",
                    .keys = {{"maximum", "`maximum`"}},
                    .build = read_json_relu},
                   tflite_limit_layer("RELU", 0.0F, unlimited),
                   tflite_limit_layer("RELU6", 0.0F, 6.0F),
                   tflite_limit_layer("RELU_0_TO_1", 0.0F, 1.0F),
                   tflite_limit_layer("RELU_N1_TO_1", -1.0F, 1.0F)},
        .functions = {{ir::Format::GraphJson, "relu"},
                      {ir::Format::Keras, "relu"},
                      {ir::Format::Keras, "relu6", {{"maximum", relu6_maximum}}}}});
}

}  // namespace systole::operators

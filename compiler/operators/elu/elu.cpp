// x for x >= 0, alpha * (exp(x) - 1) for x < 0.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float elu_of(float x, const FunctionParameters& parameters) {
    return x >= 0.0F ? x : parameters.alpha * std::expm1(x);
}

Word elu_words(const Word& x, const FunctionParameters& parameters) {
    return select(less_equal(0.0F, x), x, parameters.alpha * expm1(x));
}

ir::LayerKind keras_elu() {
    return {.format = ir::Format::Keras,
            .name = "ELU",
            .keys = {{"alpha", "`alpha`"}},
            .build = [](ir::LayerReader& layer) {
                return layer.append("elu", {{"alpha", double{layer.number("alpha", 1.0F)}}}, {layer.input()});
            }};
}

ir::LayerKind tflite_elu() {
    ir::LayerKind kind =
        tflite_function_layer("elu", "ELU", [](float x) { return x < 0.0F ? std::expm1(x) : x; });
    kind.build = [on_integers = kind.build](ir::LayerReader& layer) {
        const ir::ValueId input = input_of(layer, 0);
        if (layer.value(input).type != DataType::Float32) return on_integers(layer);
        return ir::Results(append_declared(layer, "elu", {{"alpha", 1.0}}, {input}));
    };
    return kind;
}

}  // namespace

std::unique_ptr<ir::Operator> make_elu() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "elu",
                           .summary = "x for x >= 0, alpha * (exp(x) - 1) for x < 0.",
                           .apply = apply_to_all<elu_of>,
                           .words = elu_words,
                           .attributes = {alpha_attribute("minus the limit towards minus infinity")},
                           .layers = {keras_elu(), json_alpha_layer("elu"),
                                      onnx_alpha_function("elu", "Elu", 1.0F), tflite_elu()},
                           .functions = {{ir::Format::Keras, "elu", {{"alpha", 1.0}}}}});
}

}  // namespace systole::operators

// -1, 0 or 1: the sign of x.
#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float sign_of(float x, const FunctionParameters& /*parameters*/) {
    return x > 0.0F ? 1.0F : (x < 0.0F ? -1.0F : x);
}

Word sign_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return select(less(0.0F, x), 1.0F, select(less(x, 0.0F), -1.0F, x));
}

/// A node of a file; on integers, it becomes others.
ir::LayerKind sign_node(ir::Format format, const char* name) {
    return {.format = format, .name = name, .build = [](ir::LayerReader& layer) {
                const ir::ValueId x = input_of(layer, 0);
                const DataType type = layer.value(x).type;
                if (type == DataType::Float32 || layer.value(x).quantization)
                    return append_same(layer, "sign", {}, {x});
                const ir::ValueId real = layer.append_as({.type = DataType::Float32}, "cast", {}, {x});
                return layer.append_as({.type = type}, "cast", {}, {layer.append("sign", {}, {real})});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_sign() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "sign",
                           .summary = "-1, 0 or 1: the sign of x.",
                           .apply = apply_to_all<sign_of>,
                           .words = sign_words,
                           .layers = {json_function_layer("sign"), sign_node(ir::Format::Onnx, "Sign"),
                                      sign_node(ir::Format::Tflite, "SIGN")},
                           .functions = {{ir::Format::GraphJson, "sign"}}});
}

}  // namespace systole::operators

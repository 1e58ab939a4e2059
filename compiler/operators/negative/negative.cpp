// -x.
#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float negative_of(float x, const FunctionParameters& /*parameters*/) {
    return -x;
}

Word negative_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return -x;
}

/// A node of a file; on integers, it becomes others.
ir::LayerKind negative_node(ir::Format format, const char* name) {
    return {.format = format, .name = name, .build = [](ir::LayerReader& layer) {
                const ir::ValueId x = input_of(layer, 0);
                const DataType type = layer.value(x).type;
                if (type == DataType::Float32 || layer.value(x).quantization)
                    return append_same(layer, "negative", {}, {x});
                const ir::ValueId zero = layer.append_as({.type = type}, "subtract", {}, {x, x});
                return layer.append("subtract", {}, {zero, x});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_negative() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "negative",
                           .summary = "-x.",
                           .apply = apply_to_all<negative_of>,
                           .words = negative_words,
                           .layers = {json_function_layer("negative"), negative_node(ir::Format::Onnx, "Neg"),
                                      negative_node(ir::Format::Tflite, "NEG")},
                           .functions = {{ir::Format::GraphJson, "negative"}}});
}

}  // namespace systole::operators

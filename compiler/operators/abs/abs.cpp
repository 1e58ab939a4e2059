// The magnitude of x.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float abs_of(float x, const FunctionParameters& /*parameters*/) {
    return std::abs(x);
}

/// A node of a file; on integers, it becomes others.
ir::LayerKind abs_node(ir::Format format, const char* name) {
    return {.format = format, .name = name, .build = [](ir::LayerReader& layer) {
                const ir::ValueId x = input_of(layer, 0);
                const DataType type = layer.value(x).type;
                if (type == DataType::Float32 || layer.value(x).quantization)
                    return append_same(layer, "abs", {}, {x});
                const ir::ValueId zero = layer.append_as({.type = type}, "subtract", {}, {x, x});
                return layer.append("maximum", {}, {x, layer.append("subtract", {}, {zero, x})});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_abs() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "abs",
                           .summary = "The magnitude of x.",
                           .apply = apply_to_all<abs_of>,
                           .layers = {json_function_layer("abs"), abs_node(ir::Format::Onnx, "Abs"),
                                      abs_node(ir::Format::Tflite, "ABS")},
                           .functions = {{ir::Format::GraphJson, "abs"}}});
}

}  // namespace systole::operators

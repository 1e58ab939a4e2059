// Whether two numbers are equal, element by element.
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t equal_of_floats(float a, float b) {
    return a == b ? 1 : 0;
}

std::uint8_t equal_of_integers(std::int32_t a, std::int32_t b) {
    return a == b ? 1 : 0;
}

/// A truth value is turned by the question whether it is 0.
ir::LayerKind logical_not(ir::Format format, const char* name) {
    return {.format = format, .name = name, .build = [](ir::LayerReader& layer) {
                const ir::ValueId zero = layer.add_constant("zero", {}, DataType::Uint8,
                                                            ir::Constant::of(std::vector<std::uint8_t>{0}));
                return layer.append("equal", {}, {input_of(layer, 0), zero});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_equal() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "equal",
        .summary = "Whether two numbers are equal, element by element.",
        .floats_to_truth = apply_to_row<equal_of_floats>,
        .integers_to_truth = apply_to_row<equal_of_integers>,
        .layers = {onnx_pair("equal", "Equal"), tflite_pair("equal", "EQUAL"),
                   logical_not(ir::Format::Onnx, "Not"), logical_not(ir::Format::Tflite, "LOGICAL_NOT")}});
}

}  // namespace systole::operators

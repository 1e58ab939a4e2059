// Whether two numbers are equal, element by element.
#include <limits>

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

/// ONNX IsInf: whether a number is infinite, with a sign that is asked for.
ir::Results read_is_infinite(ir::LayerReader& layer) {
    const bool positive = flag_of(layer, "detect_positive", true);
    const bool negative = flag_of(layer, "detect_negative", true);
    ir::ValueId input = input_of(layer, 0);
    if (layer.value(input).type != DataType::Float32) {
        layer.fail("its input is " + std::string(name_of(layer.value(input).type)) + "; it must be float32");
    }
    if (positive && negative) input = layer.append("abs", {}, {input});
    // Nothing is equal to NaN.
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float wanted = positive ? infinity : negative ? -infinity : std::numeric_limits<float>::quiet_NaN();
    return layer.append("equal", {}, {input, layer.constant("infinity", {}, {wanted})});
}

ir::LayerKind onnx_is_infinite() {
    return {.format = ir::Format::Onnx,
            .name = "IsInf",
            .keys = {{"detect_positive", "whether infinity counts"},
                     {"detect_negative", "whether -infinity counts"}},
            .build = read_is_infinite};
}

}  // namespace

std::unique_ptr<ir::Operator> make_equal() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "equal",
        .summary = "Whether two numbers are equal, element by element.",
        .words = pair_of_words<WordOperation::Equal>,
        .integer_words = pair_of_words<WordOperation::EqualInt>,
        .floats_to_truth = apply_to_row<equal_of_floats>,
        .integers_to_truth = apply_to_row<equal_of_integers>,
        .layers = {onnx_pair("equal", "Equal"), onnx_is_infinite(), tflite_pair("equal", "EQUAL"),
                   logical_not(ir::Format::Onnx, "Not"), logical_not(ir::Format::Tflite, "LOGICAL_NOT")}});
}

}  // namespace systole::operators

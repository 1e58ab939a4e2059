// Whether two numbers differ, element by element.
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t not_equal_of_floats(float a, float b) {
    return a != b ? 1 : 0;
}

std::uint8_t not_equal_of_integers(std::int32_t a, std::int32_t b) {
    return a != b ? 1 : 0;
}

/// NaN alone differs from itself.
ir::LayerKind onnx_is_nan() {
    return {.format = ir::Format::Onnx, .name = "IsNaN", .build = [](ir::LayerReader& layer) {
                const ir::ValueId input = input_of(layer, 0);
                return layer.append("not_equal", {}, {input, input});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_not_equal() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "not_equal",
                       .summary = "Whether two numbers differ, element by element.",
                       .words = negated_words<pair_of_words<WordOperation::Equal>>,
                       .integer_words = negated_words<pair_of_words<WordOperation::EqualInt>>,
                       .floats_to_truth = apply_to_row<not_equal_of_floats>,
                       .integers_to_truth = apply_to_row<not_equal_of_integers>,
                       .layers = {onnx_is_nan(), tflite_pair("not_equal", "NOT_EQUAL")}});
}

}  // namespace systole::operators

// The remainder of the quotient that is rounded down, element by element: it has the sign of the divisor.
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float floor_modulo_of_floats(float a, float b) {
    const float rest = std::fmod(a, b);
    return rest != 0.0F && (rest < 0.0F) != (b < 0.0F) ? rest + b : rest;
}

std::int32_t floor_modulo_of_integers(std::int32_t a, std::int32_t b) {
    if (b == 0) throw ModelError("it divides an integer by 0");
    const auto rest = static_cast<std::int32_t>(std::int64_t{a} % b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Word floor_modulo_of_words(const Word& a, const Word& b) {
    const Word rest = remainder(a, b);
    const Word has_sign_of_divisor = apply(WordOperation::EqualInt, {less(rest, 0.0F), less(b, 0.0F)});
    return select(equal(rest, 0.0F), rest, select(has_sign_of_divisor, rest, rest + b));
}

ir::LayerKind onnx_modulo() {
    return {.format = ir::Format::Onnx,
            .name = "Mod",
            .keys = {{"fmod", "1: a `remainder`"}},
            .build = [](ir::LayerReader& layer) {
                return layer.append(flag_of(layer, "fmod", false) ? "remainder" : "floor_modulo", {},
                                    {input_of(layer, 0), input_of(layer, 1)});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_floor_modulo() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "floor_modulo",
                       .summary = "The remainder of the quotient that is rounded down, element by element: "
                                  "it has the sign of the divisor.",
                       .on_floats = apply_to_row<floor_modulo_of_floats>,
                       .words = floor_modulo_of_words,
                       .on_integers = apply_to_row<floor_modulo_of_integers>,
                       .layers = {onnx_modulo(), tflite_pair("floor_modulo", "FLOOR_MOD")}});
}

}  // namespace systole::operators

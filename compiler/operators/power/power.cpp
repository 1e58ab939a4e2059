// The first number to the power of the second, element by element.
#include <cmath>

#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float power_of_floats(float a, float b) {
    return std::pow(a, b);
}

std::int32_t power_of_integers(std::int32_t a, std::int32_t b) {
    if (b < 0) return a == 1 ? 1 : (a == -1 ? (b % 2 == 0 ? 1 : -1) : 0);
    std::int32_t result = 1;
    for (std::int32_t base = a; b > 0; b /= 2, base = wrapping_multiply(base, base)) {
        if (b % 2 == 1) result = wrapping_multiply(result, base);
    }
    return result;
}

/// The exponent may be of another type than the base, which is that of the result.
ir::LayerKind onnx_power() {
    return {.format = ir::Format::Onnx, .name = "Pow", .build = [](ir::LayerReader& layer) {
                const ir::ValueId base = input_of(layer, 0);
                ir::ValueId exponent = input_of(layer, 1);
                const DataType type = layer.value(base).type;
                if (layer.value(exponent).type != type) {
                    exponent = layer.append_as({.type = type}, "cast", {}, {exponent});
                }
                return layer.append("power", {}, {base, exponent});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_power() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "power",
                       .summary = "The first number to the power of the second, element by element.",
                       .on_floats = apply_to_row<power_of_floats>,
                       .on_integers = apply_to_row<power_of_integers>,
                       .layers = {onnx_power(), tflite_pair("power", "POW")}});
}

}  // namespace systole::operators

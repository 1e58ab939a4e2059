// The first number to the power of the second, element by element.
#include <fmt/format.h>

#include <cmath>

#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"
#include "compiler/operators/words_builder.h"

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

class Power final : public PairFunctionOperator {
public:
    using PairFunctionOperator::PairFunctionOperator;

    /// Powers by a constant that a few operations compute.
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::Value& exponent = builder.view(node).input(1);
        const bool is_number =
            exponent.constant && exponent.constant->is_known() && exponent.shape.elements() == 1;
        if (!is_number || exponent.shape.rank() > builder.view(node).input(0).shape.rank()) {
            WordsBuilder::fail(node,
                               "its exponent must be one constant number on machines with a tensor core");
        }
        const float number = exponent.constant->values<float>().front();
        builder.set(node.output(), builder.chain({builder.input_of(node)}, [&](std::span<const Word> in) {
            return power_of_words(node, in[0], number);
        }));
    }

private:
    static Word power_of_words(const ir::Node& node, const Word& x, float exponent) {
        const float size = std::abs(exponent);
        Word power = x;
        if (size == 0.5F) {
            power = sqrt(x);
        } else if (size == 1.0F || size == 2.0F || size == 3.0F || size == 4.0F) {
            for (float factors = 1.0F; factors < size; ++factors) power = power * x;
        } else {
            WordsBuilder::fail(
                node,
                fmt::format("its exponent is {}; on machines with a tensor core it must be 0.5, 1, 2, 3 or "
                            "4, or one of these with a minus sign",
                            exponent));
        }
        return exponent < 0.0F ? 1.0F / power : power;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_power() {
    return std::make_unique<Power>(
        PairDefinition{.name = "power",
                       .summary = "The first number to the power of the second, element by element.",
                       .on_floats = apply_to_row<power_of_floats>,
                       .on_integers = apply_to_row<power_of_integers>,
                       .layers = {onnx_power(), tflite_pair("power", "POW")}});
}

}  // namespace systole::operators

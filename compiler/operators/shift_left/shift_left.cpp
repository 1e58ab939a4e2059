// The bits of an integer moved to the left, element by element; zeros move in.
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::int32_t shift_left_of(std::int32_t a, std::int32_t b) {
    constexpr std::uint32_t width = 32;
    const auto places = static_cast<std::uint32_t>(b);
    return places < width ? static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << places) : 0;
}

/// Of numbers without a sign, which int32 holds with their bits.
ir::LayerKind onnx_bit_shift() {
    return {.format = ir::Format::Onnx,
            .name = "BitShift",
            .keys = {{"direction", "LEFT, or RIGHT: a `shift_right_logical`"}},
            .build = [](ir::LayerReader& layer) {
                const std::string direction = layer.text("direction", "");
                if (direction != "LEFT" && direction != "RIGHT")
                    layer.fail("direction", "it must be LEFT or RIGHT");
                return layer.append(direction == "LEFT" ? "shift_left" : "shift_right_logical", {},
                                    {input_of(layer, 0), input_of(layer, 1)});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_shift_left() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "shift_left",
        .summary = "The bits of an integer moved to the left, element by element; zeros move in.",
        .integer_words = pair_of_words<WordOperation::ShiftLeft>,
        .on_integers = apply_to_row<shift_left_of>,
        .layers = {onnx_bit_shift()}});
}

}  // namespace systole::operators

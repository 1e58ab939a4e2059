// The bits that are 1 in exactly one of two integers, element by element.
#include "base/stored_integers.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::int32_t bitwise_xor_of(std::int32_t a, std::int32_t b) {
    return a ^ b;
}

/// Each bit differs from 1 where it is 0.
ir::LayerKind onnx_bitwise_not() {
    return {.format = ir::Format::Onnx, .name = "BitwiseNot", .build = [](ir::LayerReader& layer) {
                const ir::ValueId input = input_of(layer, 0);
                const DataType type = layer.value(input).type;
                if (!is_integer(type)) {
                    layer.fail(std::string("its input is ") + std::string(name_of(type)) +
                               "; it must be of integers");
                }
                std::vector<std::uint8_t> bits(bytes_of(type), 0xff);
                const ir::ValueId ones =
                    layer.add_constant("ones", {}, type, ir::Constant::of(std::move(bits)));
                return layer.append("bitwise_xor", {}, {input, ones});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_bitwise_xor() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "bitwise_xor",
                       .summary = "The bits that are 1 in exactly one of two integers, element by element.",
                       .integer_words = pair_of_words<WordOperation::Xor>,
                       .on_integers = apply_to_row<bitwise_xor_of>,
                       .layers = {onnx_pair("bitwise_xor", "BitwiseXor"),
                                  tflite_pair("bitwise_xor", "BITWISE_XOR"), onnx_bitwise_not()}});
}

}  // namespace systole::operators

// The same numbers in another type: fractions are cut off, and too large numbers limited.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/cast/onnx_types.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {

std::optional<DataType> onnx_type(std::int64_t code) {
    static const std::map<std::int64_t, DataType> types{
        {1, DataType::Float32},  {2, DataType::Uint8},   {3, DataType::Int8},  {4, DataType::Uint16},
        {5, DataType::Int16},    {6, DataType::Int32},   {7, DataType::Int32}, {9, DataType::Uint8},
        {10, DataType::Float32}, {11, DataType::Float32}};
    const auto found = types.find(code);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

namespace {

ir::Results append_cast(ir::LayerReader& layer, ir::ValueId input, DataType type, bool to_truth) {
    if (!to_truth && layer.value(input).type == type && !layer.value(input).quantization) return input;
    return layer.append_as({.type = type}, "cast", {{"truth", std::int64_t{to_truth}}}, {input});
}

ir::Results read_onnx_cast(ir::LayerReader& layer) {
    constexpr std::int64_t truth_code = 9;
    const std::int64_t code = integer_of(layer, "to", 0);
    const auto type = onnx_type(code);
    if (!type) layer.fail("to", "it must be a type of numbers of at most 64 bits that is not complex");
    return append_cast(layer, input_of(layer, 0), *type, code == truth_code);
}

ir::Results read_onnx_cast_like(ir::LayerReader& layer) {
    return append_cast(layer, input_of(layer, 0), layer.value(input_of(layer, 1)).type, false);
}

ir::Results read_tflite_cast(ir::LayerReader& layer) {
    const bool to_truth = layer.is_text("out_data_type") && layer.text("out_data_type", "") == "BOOL";
    return append_cast(layer, input_of(layer, 0), layer.declared_result(0).type, to_truth);
}

/// Whether a word is not 0.
Word truth_of(const Word& word, DataType type) {
    const Word zero = constant_word(word.steps(), 0);
    const bool is_integer = type == DataType::Int32;
    const Word is_zero = apply(is_integer ? WordOperation::EqualInt : WordOperation::Equal, {word, zero});
    return apply(WordOperation::EqualInt, {is_zero, zero});
}

class Cast final : public Operator {
public:
    std::string_view name() const override { return "cast"; }
    std::string_view summary() const override {
        return "The same numbers in another type: fractions are cut off, and numbers of float32 limited to "
               "the "
               "type; of integers, the low bits are kept.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "truth",
             .meaning = "1: the result is whether the number is not 0",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "Cast",
                 .keys = {{"to",
                           "the type; numbers of float16 count as float32: they are not rounded to 11 bits"},
                          {"saturate", "nothing: types of 8 bits with a fraction are not supported"}},
                 .build = read_onnx_cast},
                {.format = ir::Format::Onnx, .name = "CastLike", .build = read_onnx_cast_like},
                {.format = ir::Format::Tflite,
                 .name = "CAST",
                 .keys = {{"in_data_type", "nothing: the tensors have types"},
                          {"out_data_type", "BOOL: `truth`"}},
                 .build = read_tflite_cast}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32 and integers"}; }
    void check_types(const ir::NodeView& node) const override {
        for (const DataType type : {node.input().type, node.output().type}) {
            if (type == DataType::Float32 || is_integer(type)) continue;
            throw ModelError(fmt::format("cast of {} is not supported", name_of(type)));
        }
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId input = builder.input_of(node);
        const DataType from = builder.value(input).type;
        const DataType to = builder.view(node).output().type;
        const bool is_truth = node.integer("truth") != 0;
        const bool is_of_words = is_word_type(from) && from != DataType::Bfloat16 &&
                                 (to == DataType::Int32 || to == DataType::Float32);
        if (!is_of_words) {
            WordsBuilder::fail(
                node, fmt::format("it turns {} into {}; a tensor core turns float32, int32 and truth "
                                  "values into each other",
                                  name_of(from), name_of(to)));
        }
        builder.set(node.output(), builder.chain_as(to, {input}, [&](std::span<const Word> in) {
            const Word number = is_truth ? truth_of(in[0], from) : in[0];
            const bool is_integer = is_truth || from == DataType::Int32;
            if (is_integer == (to == DataType::Int32)) return number;
            return apply(is_integer ? WordOperation::IntToFloat : WordOperation::FloatToInt, {number});
        }));
    }
    void compute(const TensorCall& call) const override {
        const DataType from = call.node.input().type;
        const DataType to = call.node.output().type;
        const bool to_truth = call.node.node().integer("truth") != 0;
        const std::size_t count = call.output_elements();
        if (from == DataType::Float32) {
            const auto* const numbers = call.input<float>(0);
            if (to == DataType::Float32) {
                std::transform(numbers, numbers + count, call.output<float>(), [&](float number) {
                    return to_truth ? (number != 0.0F ? 1.0F : 0.0F) : number;
                });
                return;
            }
            std::vector<std::int32_t> integers(count);
            std::transform(numbers, numbers + count, integers.begin(), [&](float number) {
                if (to_truth) return std::int32_t{number != 0.0F ? 1 : 0};
                if (std::isnan(number)) return std::int32_t{0};
                return static_cast<std::int32_t>(std::clamp(std::trunc(double{number}),
                                                            static_cast<double>(lowest_of(to)),
                                                            static_cast<double>(highest_of(to))));
            });
            return narrow(integers, to, call.outputs.front());
        }
        std::vector<std::int32_t> integers(count);
        widen(call.inputs.front(), from, integers);
        if (to_truth) {
            for (std::int32_t& number : integers) number = number != 0 ? 1 : 0;
        }
        if (is_integer(to)) return narrow(integers, to, call.outputs.front());
        std::ranges::transform(integers, call.output<float>(),
                               [](std::int32_t n) { return static_cast<float>(n); });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_cast() {
    return std::make_unique<Cast>();
}

}  // namespace systole::operators

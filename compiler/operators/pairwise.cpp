#include "compiler/operators/pairwise.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/message_text.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// Whether a node works on integers that stand for themselves.
bool is_unquantized(const ir::NodeView& node) {
    return is_integer(node.input(0).type) && !node.input(0).quantization && !node.input(1).quantization;
}

/// The numbers of an input, repeated to the shape of the result and for each inference.
std::vector<std::int32_t> repeated_numbers(const TensorCall& call, std::size_t index) {
    const ir::Value& value = call.node.input(index);
    std::vector<std::int32_t> numbers(call.input_elements(index));
    widen(call.inputs[index], value.type, numbers);
    const ir::Shape& shape = call.node.output().shape;
    if (!value.constant && value.shape == shape) return numbers;
    const StridedView view = broadcast_view(value.shape, shape);
    const std::size_t elements = value.constant ? 0 : value.shape.elements();
    std::vector<std::int32_t> result(call.output_elements());
    for (std::size_t image = 0; image < call.batch; ++image) {
        copy_view(view, sizeof(std::int32_t), numbers.data() + image * elements,
                  result.data() + image * shape.elements());
    }
    return result;
}

}  // namespace

const std::vector<ir::AttributeDeclaration>& PairwiseOperator::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations{clamp_attribute()};
    return declarations;
}

std::vector<ir::Shape> PairwiseOperator::output_shapes(const ir::NodeView& node) const {
    const std::size_t inputs = node.node().inputs.size();
    if (inputs != 2)
        throw ModelError(fmt::format("it {} {}; it must have exactly 2", verb_, counted(inputs, "input")));
    try {
        return {paired_shape(node)};
    } catch (const ModelError&) {
        throw ModelError(
            fmt::format("it {} {} and {}; each axis, counted from the last, must be the same or 1", verb_,
                        map_text(node.input(0).shape), map_text(node.input(1).shape)));
    }
}

void PairwiseOperator::check_types(const ir::NodeView& node) const {
    check_clamp(node);
    if (!works_on_integers(node)) return;
    if (is_unquantized(node)) return require_one_kind(node);
    require_integers(node);
    require_one_type(node);
    check_scales_(node);
}

Placement PairwiseOperator::placement() const {
    return {
        .where =
            "activation unit, as vector work, of two activations of one shape; with a constant for "
            "each channel as `batch_normalization`, with a constant number as a `lookup`; else, or if its "
            "rounding is float_half_even, host",
        .formats = "float32; uint8, int8 or int16, inputs and result alike; int32"};
}

bool pairs_activations(const ir::NodeView& node) {
    const ir::Shape& result = node.output().shape;
    // A vector may have axes of extent 1 before it: [1][1][8] and [1][8] have the same elements.
    const auto is_alike = [&](const ir::Shape& shape) {
        if (shape == result) return true;
        return ir::is_feature_map(shape) && ir::is_feature_map(result) &&
               ir::feature_map(shape) == ir::feature_map(result);
    };
    return node.data_inputs() == 2 && is_alike(node.input(0).shape) && is_alike(node.input(1).shape) &&
           !is_unquantized(node);
}

void PairwiseOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const std::vector<ir::ValueId> inputs{builder.input_of(node, 0), builder.input_of(node, 1)};
    const bool is_of_integers = builder.value(inputs[0]).type == DataType::Int32;
    const WordOperation operation = is_of_integers ? integer_operation_ : operation_;
    builder.set(node.output(), builder.chain(inputs, [&](std::span<const Word> words) {
        return apply(operation, {words[0], words[1]});
    }));
}

void PairwiseOperator::evaluate(const FloatCall& call) const {
    for_each_pair_row(call.node, call.batch, call.inputs[0], call.inputs[1], call.output, on_floats_);
}

void PairwiseOperator::compute(const TensorCall& call) const {
    if (call.node.output().type == DataType::Float32) return Operator::compute(call);
    const std::vector<std::int32_t> a = repeated_numbers(call, 0);
    const std::vector<std::int32_t> b = repeated_numbers(call, 1);
    std::vector<std::int32_t> result(call.output_elements());
    if (is_unquantized(call.node)) {
        on_integers_({.a = a.data(), .b = b.data(), .to = result.data(), .count = result.size()});
    } else {
        const std::array<const std::int32_t*, 2> inputs{a.data(), b.data()};
        execute({.node = call.node, .inputs = inputs, .batch = call.batch, .output = result.data()});
    }
    narrow(result, call.node.output().type, call.outputs.front());
}

void PairwiseOperator::quantize_others(const ir::Node& node, Quantizer& quantizer) const {
    if (!add_scalar_lookup(node, quantizer, on_floats_)) quantizer.add_real(node);
}

namespace {

ir::Results read_tflite_pairwise(ir::LayerReader& layer, std::string_view op) {
    const std::vector<ir::ValueId> inputs{input_of(layer, 0), input_of(layer, 1)};
    const ir::ResultType result = layer.declared_result(0);
    if (!result.quantization) return append_fused_function(layer, layer.append_as(result, op, {}, inputs));
    return layer.append_as(result, op, {{"clamp", fused_clamp(layer, result)}}, inputs);
}

}  // namespace

ir::LayerKind tflite_pairwise_layer(std::string_view op, const char* name) {
    std::vector<ir::LayerKey> keys{{"fused_activation_function", "a function of the result, or its `clamp`"}};
    return {.format = ir::Format::Tflite,
            .name = name,
            .keys = std::move(keys),
            .build = [op](ir::LayerReader& layer) { return read_tflite_pairwise(layer, op); }};
}

ir::LayerKind json_pairwise_layer(std::string_view op) {
    return {.format = ir::Format::GraphJson,
            .name = std::string(op),
            .keys = {{"activation", "a function of the result"}},
            .build = [op](ir::LayerReader& layer) {
                return layer.append_function("activation", layer.append(op, {}, layer.inputs()));
            }};
}

}  // namespace systole::operators

#include "compiler/operators/pair_function.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/message_text.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// The numbers of an input, widened to int32.
std::vector<std::int32_t> widened(const TensorCall& call, std::size_t index) {
    std::vector<std::int32_t> numbers(call.input_elements(index));
    widen(call.inputs[index], call.node.input(index).type, numbers);
    return numbers;
}

bool is_quantized_pair(const ir::NodeView& node) {
    return node.input(0).quantization.has_value() || node.input(1).quantization.has_value();
}

/// As TFLite compares bytes of different scales: each times its scale, with 8 more bits.
void scale_compared(const ir::Value& value, std::span<std::int32_t> numbers) {
    constexpr std::int32_t headroom = 1 << 8;
    const ir::Encoding encoding = encoding_of(value);
    const FixedPoint factor = fixed_point_of(encoding.scale);
    for (std::int32_t& number : numbers) {
        number = scale((number - encoding.zero_point) * headroom, factor.multiplier, factor.shift);
    }
}

bool has_clamp(std::string_view op) {
    return std::ranges::any_of(registry().at(op).attributes(), [](const ir::AttributeDeclaration& attribute) {
        return attribute.name == "clamp";
    });
}

ir::Results append_chain(ir::LayerReader& layer, std::string_view op) {
    const std::vector<ir::ValueId>& inputs = layer.inputs();
    if (inputs.empty()) layer.fail("it has no inputs; it must have at least 1");
    ir::ValueId result = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) result = layer.append(op, {}, {result, inputs[i]});
    return result;
}

}  // namespace

PairView pair_view(const ir::Shape& a, const ir::Shape& b) {
    const ir::Shape result = broadcast_shape(a, b);
    const StridedView full_a = broadcast_view(a, result);
    const StridedView full_b = broadcast_view(b, result);
    PairView view;
    const auto joins = [](std::ptrdiff_t outer, std::ptrdiff_t inner, std::size_t extent) {
        return outer == inner * static_cast<std::ptrdiff_t>(extent);
    };
    // From the last axis to the first; reversed at the end.
    for (std::size_t axis = result.rank(); axis-- > 0;) {
        const std::size_t extent = full_a.extents[axis];
        const std::ptrdiff_t stride_a = full_a.strides[axis];
        const std::ptrdiff_t stride_b = full_b.strides[axis];
        if (extent == 1) continue;
        if (!view.extents.empty() && joins(stride_a, view.strides_a.back(), view.extents.back()) &&
            joins(stride_b, view.strides_b.back(), view.extents.back())) {
            view.extents.back() *= extent;
            continue;
        }
        view.extents.push_back(extent);
        view.strides_a.push_back(stride_a);
        view.strides_b.push_back(stride_b);
    }
    if (view.extents.empty()) return {.extents = {1}, .strides_a = {0}, .strides_b = {0}};
    std::ranges::reverse(view.extents);
    std::ranges::reverse(view.strides_a);
    std::ranges::reverse(view.strides_b);
    return view;
}

ir::Shape paired_shape(const ir::NodeView& node) {
    const std::size_t count = node.node().inputs.size();
    if (count != 2) {
        throw ModelError(fmt::format("it has {}; it must have exactly 2", counted(count, "input")));
    }
    return broadcast_shape(node.input(0).shape, node.input(1).shape);
}

std::vector<ir::Shape> PairFunctionOperator::output_shapes(const ir::NodeView& node) const {
    return {paired_shape(node)};
}

DataType PairFunctionOperator::result_type(const ir::NodeView& node) const {
    return is_comparison() ? DataType::Uint8 : node.input().type;
}

void PairFunctionOperator::check_types(const ir::NodeView& node) const {
    const DataType type = node.input(0).type;
    if (node.input(1).type != type) {
        throw ModelError(fmt::format("it combines {} and {}; both must be of one type", name_of(type),
                                     name_of(node.input(1).type)));
    }
    if (node.output().type != result_type(node)) {
        throw ModelError(fmt::format("its result is of {}; it must be of {}", name_of(node.output().type),
                                     name_of(result_type(node))));
    }
    const bool has_rule = type == DataType::Float32
                              ? definition_.on_floats != nullptr || definition_.floats_to_truth != nullptr
                              : is_integer(type) && (is_comparison() || definition_.on_integers != nullptr);
    if (!has_rule) throw ModelError(fmt::format("{} of {} is not supported", name(), name_of(type)));
    if (!is_quantized_pair(node) || is_comparison()) return;
    if (!definition_.works_on_stored && !works_on_quantized(node)) {
        throw ModelError(fmt::format("{} of quantized {} is not supported", name(), name_of(type)));
    }
}

Placement PairFunctionOperator::placement() const {
    if (is_comparison()) return {.where = "host", .formats = "float32 or integers to truth values in uint8"};
    if (definition_.on_floats == nullptr) return {.where = "host", .formats = "integers"};
    if (definition_.on_integers == nullptr) {
        return {.where = "host; with a constant number as a `lookup`", .formats = "float32"};
    }
    return {.where = "host; with a constant number as a `lookup`", .formats = "float32; integers"};
}

void PairFunctionOperator::compute(const TensorCall& call) const {
    if (call.node.input().type != DataType::Float32) return compute_on_integers(call);
    const auto* const a = call.input<float>(0);
    const auto* const b = call.input<float>(1);
    if (is_comparison()) {
        for_each_pair_row(call.node, call.batch, a, b, call.output<std::uint8_t>(),
                          definition_.floats_to_truth);
    } else {
        for_each_pair_row(call.node, call.batch, a, b, call.output<float>(), definition_.on_floats);
    }
}

void PairFunctionOperator::compute_on_integers(const TensorCall& call) const {
    std::vector<std::int32_t> a = widened(call, 0);
    std::vector<std::int32_t> b = widened(call, 1);
    const bool is_quantized = is_quantized_pair(call.node);
    if (is_comparison()) {
        if (is_quantized && bytes_of(call.node.input().type) == 1) {
            scale_compared(call.node.input(0), a);
            scale_compared(call.node.input(1), b);
        }
        for_each_pair_row(call.node, call.batch, a.data(), b.data(), call.output<std::uint8_t>(),
                          definition_.integers_to_truth);
        return;
    }
    const bool is_scaled = is_quantized && !definition_.works_on_stored;
    if (is_scaled) {
        scale_input(call.node, 0, a);
        scale_input(call.node, 1, b);
    }
    std::vector<std::int32_t> result(call.output_elements());
    for_each_pair_row(call.node, call.batch, a.data(), b.data(), result.data(), definition_.on_integers);
    if (is_scaled) scale_result(call.node, result);
    narrow(result, call.node.output().type, call.outputs.front());
}

void PairFunctionOperator::quantize(const ir::Node& node, Quantizer& quantizer) const {
    if (definition_.on_floats != nullptr && add_scalar_lookup(node, quantizer, definition_.on_floats)) return;
    quantizer.add_real(node);
}

void PairFunctionOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const std::vector<ir::ValueId> inputs{builder.input_of(node, 0), builder.input_of(node, 1)};
    const bool is_of_integers = builder.value(inputs[0]).type == DataType::Int32;
    auto* const function = is_of_integers ? definition_.integer_words : definition_.words;
    if (function == nullptr) fail_without_words(node);
    const auto formula = [&](std::span<const Word> words) { return function(words[0], words[1]); };
    builder.set(node.output(), is_comparison() ? builder.chain_as(DataType::Int32, inputs, formula)
                                               : builder.chain(inputs, formula));
}

bool add_scalar_lookup(const ir::Node& node, Quantizer& quantizer,
                       void (*on_floats)(const PairRow<float, float>& row)) {
    const ir::NodeView view = quantizer.view(node);
    if (view.input(0).type != DataType::Float32 || view.data_inputs() != 1) return false;
    const std::size_t constant = view.input(0).constant ? 0 : 1;
    const ir::ValueId activation = node.inputs[1 - constant];
    const ir::Value& value = view.input(constant);
    if (value.shape.elements() != 1 || !value.constant->is_known() || !quantizer.is_stored(activation) ||
        view.output().shape != view.input(1 - constant).shape ||
        bytes_of(quantizer.stored_encoding(activation).type) != bytes_of(quantizer.type(node.output()))) {
        return false;
    }
    const float number = value.constant->values<float>().front();
    const ir::ValueId to = quantizer.add_value(node.output(), quantizer.encoding(node.output()));
    quantizer.store(node.output(), to);
    quantizer.add_lookup(node, quantizer.stored(activation), to, [=](float x) {
        float result = 0.0F;
        const bool is_first = constant == 0;
        on_floats({.a = is_first ? &number : &x, .b = is_first ? &x : &number, .to = &result, .count = 1});
        return result;
    });
    return true;
}

ir::LayerKind onnx_pair(std::string_view op, const char* name) {
    return onnx_plain_node(op, name, 2);
}

ir::LayerKind tflite_pair(std::string_view op, const char* name) {
    return tflite_plain_node(op, name, 2);
}

ir::LayerKind tflite_pair_with_function(std::string_view op, const char* name) {
    return {.format = ir::Format::Tflite,
            .name = name,
            .keys = {{"fused_activation_function", "a function of the result"}},
            .build = [op](ir::LayerReader& layer) {
                const std::vector<ir::ValueId> inputs{input_of(layer, 0), input_of(layer, 1)};
                const ir::ResultType type = layer.declared_result(0);
                if (type.quantization && !has_clamp(op)) {
                    layer.fail(fmt::format("{} of quantized {} is not supported", op, name_of(type.type)));
                }
                if (type.quantization) {
                    return layer.append_as(type, op, {{"clamp", fused_clamp(layer, type)}}, inputs);
                }
                return append_fused_function(layer, layer.append_as(type, op, {}, inputs));
            }};
}

ir::LayerKind onnx_chain(std::string_view op, const char* name) {
    return {.format = ir::Format::Onnx, .name = name, .build = [op](ir::LayerReader& layer) {
                return append_chain(layer, op);
            }};
}

ir::LayerKind keras_chain(std::string_view op, const char* name) {
    return {.format = ir::Format::Keras, .name = name, .build = [op](ir::LayerReader& layer) {
                if (layer.inputs().size() < 2) {
                    layer.fail(fmt::format("it has {}; it must have at least 2",
                                           counted(layer.inputs().size(), "input")));
                }
                return append_chain(layer, op);
            }};
}

}  // namespace systole::operators

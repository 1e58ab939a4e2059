#include "compiler/operators/tflite_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {
namespace {

bool is_byte(const ir::Value& value) {
    return (value.type == DataType::Uint8 || value.type == DataType::Int8) && value.quantization &&
           !value.quantization->axis;
}

bool is_byte(const ir::ResultType& type) {
    return (type.type == DataType::Uint8 || type.type == DataType::Int8) && type.quantization &&
           !type.quantization->axis;
}

ir::Encoding encoding_of_result(const ir::ResultType& result) {
    return {result.quantization->scales.front(), result.quantization->zero_points.front(), result.type};
}

std::int32_t clamped(std::int64_t number, DataType type) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, lowest_of(type), highest_of(type)));
}

/// The table of a function of real numbers, with the runtime's arithmetic in float32.
ir::ValueId append_real_table(ir::LayerReader& layer, ir::ValueId from, const ir::ResultType& result,
                              const std::function<float(float)>& function) {
    const ir::Encoding in = encoding_of(layer.value(from));
    const ir::Encoding out = encoding_of_result(result);
    const auto scale = static_cast<float>(in.scale);
    const float inverse = 1.0F / static_cast<float>(out.scale);
    return append_table(layer, from, result, [=](std::int32_t stored) {
        const float real = scale * static_cast<float>(stored - in.zero_point);
        return clamped(saturated(std::round(function(real) * inverse)) + out.zero_point, out.type);
    });
}

ir::ValueId append_requantize(ir::LayerReader& layer, ir::ValueId from, const ir::ResultType& result,
                              std::vector<ir::NamedAttribute> attributes) {
    if (!is_integer(layer.value(from).type) || !layer.value(from).quantization || !result.quantization) {
        layer.fail(fmt::format("it turns {} into {}, without a scale of both; that is not supported",
                               name_of(layer.value(from).type), name_of(result.type)));
    }
    return layer.append_as(result, "requantize", std::move(attributes), {from});
}

/// `requantize`, or its table if both sides are bytes.
ir::ValueId append_rescaled(ir::LayerReader& layer, ir::ValueId from, const ir::ResultType& result,
                            std::vector<ir::NamedAttribute> attributes) {
    if (!is_byte(layer.value(from)) || !is_byte(result)) {
        return append_requantize(layer, from, result, std::move(attributes));
    }
    // The operator itself computes the table, as a constant of all stored numbers.
    const ir::Encoding in = encoding_of(layer.value(from));
    const ir::Quantization quantization = *layer.value(from).quantization;
    constexpr std::uint32_t entries = 256;
    std::vector<std::int8_t> bytes;
    for (std::uint32_t byte = 0; byte < entries; ++byte) bytes.push_back(static_cast<std::int8_t>(byte));
    const ir::ValueId all = layer.as_quantized(
        layer.add_constant("bytes", {entries}, in.type, ir::Constant::of(std::move(bytes))), quantization);
    const ir::ValueId table = append_requantize(layer, all, result, std::move(attributes));
    return layer.append_as(result, "lookup", {}, {from, table});
}

ir::Results read_sigmoid(ir::LayerReader& layer, std::string_view op, float (*function)(float)) {
    const ir::ResultType result = layer.declared_result(0);
    if (result.type != DataType::Int16) return append_function(layer, op, function);
    const std::string name(op);
    return layer.append_as(result, "wide_sigmoid", {{"function", name}}, {input_of(layer, 0)});
}

ir::Results read_limits(ir::LayerReader& layer, float minimum, float maximum) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    if (result.type == DataType::Float32) {
        if (minimum == 0.0F) return layer.append("relu", {{"maximum", double{maximum}}}, {input});
        return layer.append("clip", {{"minimum", double{minimum}}, {"maximum", double{maximum}}}, {input});
    }
    if (!result.quantization) layer.fail("its result is of integers without a scale; it must have one");
    const ir::Encoding out = encoding_of_result(result);
    const auto stored = [&](float real) -> std::int64_t {
        if (std::isinf(real)) return highest_of(out.type);
        return clamped(out.zero_point + saturated(std::round(real / static_cast<float>(out.scale))),
                       out.type);
    };
    const std::vector<std::int64_t> clamp{stored(minimum), stored(maximum)};
    return append_rescaled(layer, input, result, {{"clamp", clamp}, {"single_precision", std::int64_t{1}}});
}

ir::Results read_leaky_relu(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    const auto alpha = double{layer.number("alpha", 0.0F)};
    if (result.type == DataType::Float32) return layer.append("leaky_relu", {{"alpha", alpha}}, {input});
    return append_rescaled(layer, input, result, {{"alpha", alpha}, {"single_precision", std::int64_t{1}}});
}

ir::Results read_hard_swish(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    if (result.type == DataType::Float32) return layer.append("hard_swish", {}, {input});
    if (!is_byte(layer.value(input)) || !is_byte(result)) {
        layer.fail(fmt::format("its result is {}; it must be float32, uint8 or int8", name_of(result.type)));
    }
    const ir::Encoding in = encoding_of(layer.value(input));
    const ir::Encoding out = encoding_of_result(result);
    if (in.scale / 128.0 / out.scale >= 1.0) {
        layer.fail("the scale of its result is at most 1/128 of its input's; the runtime allows no such");
    }
    return append_table(layer, input, result,
                        [=](std::int32_t stored) { return hard_swish_stored(stored, in, out); });
}

ir::ValueId read_log(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    if (!is_byte(layer.value(input)) || !is_byte(result)) return append_function(layer, "log", std::log);
    const ir::Encoding out = encoding_of_result(result);
    const auto lowest =
        static_cast<float>(lowest_of(out.type) - out.zero_point) * static_cast<float>(out.scale);
    return append_real_table(layer, input, result,
                             [=](float real) { return real <= 0.0F ? lowest : std::log(real); });
}

/// 1 / sqrt(x) in fixed point: the root of the stored number, and then the scales.
ir::ValueId read_rsqrt(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    if (!is_byte(layer.value(input)) || !is_byte(result)) {
        return append_function(layer, "rsqrt", [](float real) { return 1.0F / std::sqrt(real); });
    }
    const ir::Encoding in = encoding_of(layer.value(input));
    const ir::Encoding out = encoding_of_result(result);
    const float scales = std::sqrt(static_cast<float>(in.scale)) * static_cast<float>(out.scale);
    const FixedPoint factor = fixed_point_of(1.0 / double{scales});
    return append_table(layer, input, result, [=](std::int32_t stored) {
        constexpr int more_bits = 20;
        const std::int32_t number = stored - in.zero_point;
        // Of 0, the largest number; the runtime refuses numbers below 0.
        if (number <= 0) return static_cast<std::int32_t>(highest_of(out.type));
        const InverseRoot root = inverse_root_of(number);
        const std::int32_t fine = scale(1, root.multiplier, root.shift + more_bits);
        return clamped(
            std::int64_t{scale(fine, factor.multiplier, factor.shift - more_bits)} + out.zero_point,
            out.type);
    });
}

ir::Results read_quantize(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    if (layer.value(input).type == DataType::Float32) return layer.append_as(result, "quantize", {}, {input});
    return append_rescaled(layer, input, result, {});
}

ir::Results read_dequantize(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    // Constants of float16 are float32 in the graph.
    if (layer.value(input).type == DataType::Float32) return input;
    return layer.append_as({DataType::Float32, {}}, "dequantize", {}, {input});
}

// The arithmetic of 16 bits.

std::int32_t saturated16(std::int64_t number) {
    return clamped(number, DataType::Int16);
}

/// The high half of 2 * a * b, rounded to nearest, halves away from zero.
std::int32_t rounding_high_multiply16(std::int32_t a, std::int32_t b) {
    const std::int64_t product = std::int64_t{a} * b;
    const std::int64_t nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
    return saturated16((product + nudge) / (1 << 15));
}

/// A factor as multiplier / 2^15 * 2^exponent.
struct Multiplier16 {
    std::int32_t multiplier = 0;
    int exponent = 0;
};

Multiplier16 multiplier16(float factor) {
    const FixedPoint fixed = fixed_point_of(double{factor});
    return {reduced_multiplier(fixed.multiplier), fixed.shift};
}

}  // namespace

ir::ValueId append_function(ir::LayerReader& layer, std::string_view op, float (*function)(float)) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ResultType result = layer.declared_result(0);
    if (is_byte(layer.value(input)) && is_byte(result)) {
        return append_real_table(layer, input, result, function);
    }
    if (result.type != DataType::Float32) {
        layer.fail(fmt::format("its result is {}; it must be float32, uint8 or int8", name_of(result.type)));
    }
    std::vector<ir::NamedAttribute> attributes;
    if (op == "elu") attributes.emplace_back("alpha", 1.0);
    return layer.append(op, std::move(attributes), {input});
}

ir::LayerKind tflite_function_layer(std::string_view op, const char* name, float (*function)(float)) {
    return {.format = ir::Format::Tflite, .name = name, .build = [op, function](ir::LayerReader& layer) {
                return append_function(layer, op, function);
            }};
}

ir::LayerKind tflite_sigmoid_layer(std::string_view op, const char* name, float (*function)(float)) {
    return {.format = ir::Format::Tflite, .name = name, .build = [op, function](ir::LayerReader& layer) {
                return read_sigmoid(layer, op, function);
            }};
}

ir::LayerKind tflite_limit_layer(const char* name, float minimum, float maximum) {
    return {.format = ir::Format::Tflite, .name = name, .build = [minimum, maximum](ir::LayerReader& layer) {
                return read_limits(layer, minimum, maximum);
            }};
}

ir::LayerKind tflite_leaky_relu() {
    return {.format = ir::Format::Tflite,
            .name = "LEAKY_RELU",
            .keys = {{"alpha", "`alpha`"}},
            .build = read_leaky_relu};
}

ir::LayerKind tflite_log() {
    return {.format = ir::Format::Tflite, .name = "LOG", .build = read_log};
}

ir::LayerKind tflite_rsqrt() {
    return {.format = ir::Format::Tflite, .name = "RSQRT", .build = read_rsqrt};
}

ir::LayerKind tflite_hard_swish() {
    return {.format = ir::Format::Tflite, .name = "HARD_SWISH", .build = read_hard_swish};
}

ir::LayerKind tflite_quantize() {
    return {.format = ir::Format::Tflite, .name = "QUANTIZE", .build = read_quantize};
}

ir::LayerKind tflite_dequantize() {
    return {.format = ir::Format::Tflite, .name = "DEQUANTIZE", .build = read_dequantize};
}

ir::ValueId append_table(ir::LayerReader& layer, ir::ValueId from, const ir::ResultType& to,
                         const std::function<std::int32_t(std::int32_t)>& function) {
    constexpr std::uint32_t entries = 256;
    const bool is_signed_input = is_signed(layer.value(from).type);
    std::vector<std::int8_t> table;  // the bits of a byte of either type
    for (std::uint32_t byte = 0; byte < entries; ++byte) {
        const auto stored =
            is_signed_input ? std::int32_t{static_cast<std::int8_t>(byte)} : static_cast<std::int32_t>(byte);
        table.push_back(static_cast<std::int8_t>(function(stored)));
    }
    const ir::ValueId constant =
        layer.add_constant("table", {entries}, to.type, ir::Constant::of(std::move(table)));
    return layer.append_as(to, "lookup", {}, {from, constant});
}

std::int32_t hard_swish_stored(std::int32_t stored, const ir::Encoding& from, const ir::Encoding& to) {
    // x has 7 more bits, so that 16 bits are used.
    constexpr std::int32_t more = 128;
    const float fine_scale = (1.0F / 128.0F) * static_cast<float>(from.scale);
    const Multiplier16 to_output = multiplier16(fine_scale / static_cast<float>(to.scale));
    // In units of 3 / 2^15: from -3 to 3, x becomes -1 to 1.
    const Multiplier16 to_gate = multiplier16(fine_scale / (3.0F / 32768.0F));
    const std::int32_t x = saturated16(std::int64_t{stored - from.zero_point} * more);
    const std::int32_t scaled = rounding_high_multiply16(x, to_output.multiplier);
    std::int32_t gate = x;
    if (to_gate.exponent > 0) {
        gate = saturated16(std::int64_t{gate} * (std::int64_t{1} << (to_gate.exponent - 1)));
    }
    gate = rounding_high_multiply16(gate, to_gate.multiplier);
    if (to_gate.exponent > 0) gate = saturated16(std::int64_t{gate} * 2);
    if (to_gate.exponent < 0) gate = rounding_divide_by_power_of_two(gate, -to_gate.exponent);
    gate = (gate + (1 << 15)) >> 1;                          // 0 to 1, in units of 2^-15
    const std::int32_t product = gate * scaled / (1 << 15);  // rounded towards zero
    const std::int32_t result = rounding_divide_by_power_of_two(product, std::max(-to_output.exponent, 0));
    return clamped(saturated16(std::int64_t{result} + to.zero_point), to.type);
}

}  // namespace systole::operators

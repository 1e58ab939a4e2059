#include "compiler/operators/integer_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::operators {
namespace {

template <typename Check>
void for_each_activation(const ir::NodeView& node, const Check& check) {
    for (std::size_t i = 0, count = node.data_inputs(); i < count; ++i) check(node.input(i));
    check(node.output());
}

std::string list_of(std::span<const DataType> types) {
    std::string list = "float32";
    for (const DataType type : types) list += fmt::format(", {}", name_of(type));
    return list;
}

/// Throws ModelError unless a quotient of scales has a fixed-point number.
void require_multiplier(double scale) {
    constexpr int most_bits = 30;
    if (std::isfinite(scale) && scale < std::ldexp(1.0, most_bits)) return;
    throw ModelError(
        fmt::format("its scales ask for a multiplier of {}; it must be below 2^{}", scale, most_bits));
}

}  // namespace

bool works_on_integers(const ir::NodeView& node) {
    const auto is_float = [](const ir::Value& value) { return value.type == DataType::Float32; };
    bool all_are_float = is_float(node.output());
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) all_are_float &= is_float(node.input(i));
    return !all_are_float;
}

void require_integers(const ir::NodeView& node, std::span<const DataType> types) {
    for_each_activation(node, [&](const ir::Value& value) {
        if (std::ranges::find(types, value.type) == types.end()) {
            throw ModelError(fmt::format("{} works on {}, not on {}", node.node().op->name(), list_of(types),
                                         name_of(value.type)));
        }
        if (!value.quantization || value.quantization->axis) {
            throw ModelError("its inputs and its result, integers, must have one scale each");
        }
        if (value.type == DataType::Int16 && value.quantization->zero_points.front() != 0) {
            throw ModelError("a zero point of int16 must be 0");
        }
    });
}

void require_integers(const ir::NodeView& node) {
    constexpr std::array types{DataType::Uint8, DataType::Int8, DataType::Int16};
    require_integers(node, types);
}

void require_one_type(const ir::NodeView& node) {
    for_each_activation(node, [&](const ir::Value& value) {
        if (value.type == node.input().type) return;
        throw ModelError(fmt::format("it works on {} and {}; its inputs and its result must be of one type",
                                     name_of(node.input().type), name_of(value.type)));
    });
}

void require_one_encoding(const ir::NodeView& node) {
    require_one_type(node);
    for_each_activation(node, [&](const ir::Value& value) {
        if (value.quantization == node.input().quantization) return;
        throw ModelError("its inputs and its result must have one scale and one zero point");
    });
}

bool is_stored_alike(const ir::Value& a, const ir::Value& b) {
    return a.type == b.type && (!is_integer(a.type) || a.quantization == b.quantization);
}

void fail_as_stored_unlike(std::string_view whose, const ir::Value& a, const ir::Value& b) {
    const auto text = [](const ir::Value& value) {
        if (!value.quantization) return std::string(name_of(value.type));
        const ir::Quantization& quantization = *value.quantization;
        if (quantization.axis)
            return fmt::format("{} with {} scales", name_of(value.type), quantization.scales.size());
        return fmt::format("{} with scale {} and zero point {}", name_of(value.type),
                           quantization.scales.front(), quantization.zero_points.front());
    };
    throw ModelError(fmt::format("{} must be of one type, scale and zero point; they are {} and {}", whose,
                                 text(a), text(b)));
}

ir::AttributeDeclaration clamp_attribute() {
    return {.name = "clamp",
            .meaning = "of integers: the least and the greatest stored number; none: all of the type",
            .absent = std::vector<std::int64_t>{},
            .minimum = lowest_of(DataType::Int16),
            .maximum = highest_of(DataType::Int16)};
}

void check_clamp(const ir::NodeView& node) {
    const std::vector<std::int64_t>& clamp = node.node().integers("clamp");
    if (clamp.empty()) return;
    const DataType type = node.output().type;
    if (clamp.size() == 2 && is_integer(type) && clamp[0] <= clamp[1] && clamp[0] >= lowest_of(type) &&
        clamp[1] <= highest_of(type)) {
        return;
    }
    throw ModelError(fmt::format("its clamp is {}; it must be two numbers of its result, {}, in order",
                                 ir::to_text(ir::Attribute(clamp)), name_of(type)));
}

Clamp clamp_of(const ir::NodeView& node) {
    const std::vector<std::int64_t>& clamp = node.node().integers("clamp");
    const DataType type = node.output().type;
    if (clamp.empty()) return {lowest_of(type), highest_of(type)};
    return {static_cast<std::int32_t>(clamp[0]), static_cast<std::int32_t>(clamp[1])};
}

double scale_quotient(double a, double b, double c) {
    const auto is_single = [](double scale) { return double{static_cast<float>(scale)} == scale; };
    if (!is_single(a) || !is_single(b) || !is_single(c)) return a * b / c;
    return double{static_cast<float>(a) * static_cast<float>(b) / static_cast<float>(c)};
}

FixedPoint fixed_point_of(double scale) {
    require_multiplier(scale);
    return to_fixed_point(scale);
}

ir::AttributeDeclaration rounding_attribute() {
    return {
        .name = "rounding",
        .meaning =
            "how integers are scaled: \"tflite\": by a fixed-point multiplier, then by a shift, each of "
            "which rounds; \"half_to_even\": by the same number, rounded once, halves to the even number, "
            "as in ONNX; \"float_half_even\": of 8 bits, in float32, rounded once, halves to the even "
            "number, as in the Edge TPU; older texts have `single_rounding`: 0 is \"tflite\", 1 is "
            "\"half_to_even\"",
        .absent = rounding_value(Rounding::Tflite),
        .choices = {rounding_names.begin(), rounding_names.end()},
        .former = {{.name = "single_rounding",
                    .values = {rounding_value(Rounding::Tflite), rounding_value(Rounding::HalfToEven)}}}};
}

ir::Attribute rounding_value(Rounding rounding) {
    return std::string(name_of(rounding));
}

Rounding rounding_of(const ir::Node& node) {
    const auto rounding = find_rounding(node.text("rounding"));
    if (!rounding) {
        throw std::logic_error(fmt::format("the rounding of {} is {}, which no rule of the attribute allows",
                                           in_quotes(node.name), in_quotes(node.text("rounding"))));
    }
    return *rounding;
}

void check_rounding(const ir::NodeView& node) {
    if (rounding_of(node.node()) != Rounding::FloatHalfEven) return;
    for_each_activation(node, [](const ir::Value& value) {
        if (bytes_of(value.type) == 1) return;
        throw ModelError(fmt::format("its rounding is float_half_even, which is of 8 bits; it works on {}",
                                     name_of(value.type)));
    });
}

float float_multiplier_of(double scale) {
    require_multiplier(scale);
    return static_cast<float>(scale);
}

}  // namespace systole::operators

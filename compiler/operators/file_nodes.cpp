#include "compiler/operators/file_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "base/stored_integers.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {
namespace {

constexpr const char* function_key = "fused_activation_function";

const ir::Value* known_constant(const ir::LayerReader& layer, std::size_t index) {
    const auto id = layer.input_if_any(index);
    if (!id) return nullptr;
    const ir::Value& value = layer.value(*id);
    if (!value.constant || !value.constant->is_known()) {
        layer.fail(fmt::format(
            "its input {} is computed by the network; it must be a constant, others are not supported",
            index));
    }
    return &value;
}

/// Operators whose results are where their inputs are.
constexpr std::array<std::string_view, 3> same_places{"abs", "negative", "sign"};

/// The axis of a result along which the input had scales; nullopt if there is none, or if the node may drop
/// or repeat elements.
std::optional<std::uint32_t> moved_scale_axis(const ir::Shape& shape, std::uint32_t axis, std::string_view op,
                                              const std::vector<ir::NamedAttribute>& attributes) {
    if (std::ranges::find(same_places, op) != same_places.end()) return axis;
    if (op != "transpose" && op != "reshape") return std::nullopt;
    const auto& list = std::get<std::vector<std::int64_t>>(attributes.front().second);
    if (op == "transpose") {
        const auto place = std::ranges::find(list, std::int64_t{axis});
        if (place == list.end()) return std::nullopt;
        return static_cast<std::uint32_t>(place - list.begin());
    }
    std::int64_t before = 1;
    for (std::uint32_t i = 0; i < axis; ++i) before *= shape[i];
    std::int64_t reached = 1;
    for (std::uint32_t i = 0; i < list.size() && reached <= before; reached *= list[i++]) {
        if (reached == before && list[i] == shape[axis]) return i;
    }
    return std::nullopt;
}

}  // namespace

std::int64_t opset_of(const ir::LayerReader& layer) {
    constexpr std::int64_t newest = 17;
    return integer_of(layer, opset_key, newest);
}

ir::LayerKey opset_entry() {
    return {opset_key, "the operator set, which the file gives once for all nodes"};
}

ir::ValueId input_of(const ir::LayerReader& layer, std::size_t index) {
    const auto id = layer.input_if_any(index);
    if (!id) layer.fail(fmt::format("its input {} is left out; it must be given", index));
    return *id;
}

const ir::Shape& shape_of(const ir::LayerReader& layer, std::size_t index) {
    return layer.value(input_of(layer, index)).shape;
}

std::optional<std::vector<std::int64_t>> constant_integers_if_any(const ir::LayerReader& layer,
                                                                  std::size_t index) {
    const ir::Value* const value = known_constant(layer, index);
    if (value == nullptr) return std::nullopt;
    if (!is_integer(value->type)) {
        layer.fail(fmt::format("its input {} is of {}; it must be of integers", index, name_of(value->type)));
    }
    std::vector<std::int32_t> numbers(value->shape.elements());
    widen(value->constant->bytes().data(), value->type, numbers);
    return std::vector<std::int64_t>(numbers.begin(), numbers.end());
}

std::vector<std::int64_t> constant_integers(const ir::LayerReader& layer, std::size_t index) {
    const auto numbers = constant_integers_if_any(layer, index);
    if (!numbers) layer.fail(fmt::format("its input {} is left out; it must be given", index));
    return *numbers;
}

std::optional<std::vector<double>> constant_reals_if_any(const ir::LayerReader& layer, std::size_t index) {
    const ir::Value* const value = known_constant(layer, index);
    if (value == nullptr) return std::nullopt;
    if (value->type == DataType::Float32) {
        const auto floats = value->constant->values<float>();
        return std::vector<double>(floats.begin(), floats.end());
    }
    const std::vector<std::int64_t> numbers = constant_integers(layer, index);
    std::vector<double> reals(numbers.begin(), numbers.end());
    if (value->quantization && !value->quantization->axis) {
        for (double& real : reals) {
            real = value->quantization->scales.front() * (real - value->quantization->zero_points.front());
        }
    }
    return reals;
}

std::optional<std::vector<std::int64_t>> integers_of(const ir::LayerReader& layer, const char* key) {
    const auto given = layer.integers(key);
    if (!given) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const auto& number : *given) {
        numbers.push_back(number.value_or(std::numeric_limits<std::int32_t>::max()));
    }
    return numbers;
}

std::int64_t integer_of(const ir::LayerReader& layer, const char* key, std::int64_t absent) {
    const auto numbers = integers_of(layer, key);
    if (!numbers) return absent;
    if (numbers->size() != 1) layer.fail(key, "it must be one integer");
    return numbers->front();
}

std::int64_t positive_of(const ir::LayerReader& layer, const char* key) {
    const std::int64_t number = integer_of(layer, key, 0);
    if (number < 1 || number > std::numeric_limits<std::int32_t>::max()) {
        layer.fail(key, "it must be an integer from 1 to 2^31 - 1");
    }
    return number;
}

bool flag_of(const ir::LayerReader& layer, const char* key, bool absent) {
    const auto numbers = layer.integers(key);
    if (numbers && numbers->size() == 1 && numbers->front()) return *numbers->front() != 0;
    return layer.boolean(key, absent);
}

std::size_t axis_in(const ir::LayerReader& layer, std::int64_t axis, std::size_t rank) {
    const auto extents = static_cast<std::int64_t>(rank);
    if (axis < -extents || axis >= extents) {
        layer.fail(fmt::format("its axis is {}; it must be from {} to {}", axis, -extents, extents - 1));
    }
    return static_cast<std::size_t>(axis < 0 ? axis + extents : axis);
}

std::vector<std::int64_t> axes_in(const ir::LayerReader& layer, const std::vector<std::int64_t>& axes,
                                  std::size_t rank) {
    std::vector<std::int64_t> sorted;
    sorted.reserve(axes.size());
    for (const std::int64_t axis : axes) {
        sorted.push_back(static_cast<std::int64_t>(axis_in(layer, axis, rank)));
    }
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
}

std::vector<ir::ValueId> append_declared(ir::LayerReader& layer, std::string_view op,
                                         std::vector<ir::NamedAttribute> attributes,
                                         std::vector<ir::ValueId> inputs) {
    if (layer.result_count() != 1) {
        layer.fail(fmt::format("it has {} results in the file; it must have 1", layer.result_count()));
    }
    return layer.append_node(op, std::move(attributes), std::move(inputs), {layer.declared_result(0)});
}

ir::ValueId append_shape(ir::LayerReader& layer, ir::ValueId value, const ir::Shape& shape) {
    if (layer.value(value).shape == shape) return value;
    return append_same(layer, "reshape", {{"shape", extents_of(shape)}}, {value});
}

ir::ValueId append_same(ir::LayerReader& layer, std::string_view op,
                        std::vector<ir::NamedAttribute> attributes, std::vector<ir::ValueId> inputs) {
    const ir::Value& first = layer.value(inputs.front());
    ir::ResultType type{.type = first.type, .quantization = first.quantization};
    if (type.quantization && type.quantization->axis) {
        const auto axis = moved_scale_axis(first.shape, *type.quantization->axis, op, attributes);
        if (axis) {
            type.quantization->axis = axis;
        } else if (first.type == DataType::Float32) {
            type.quantization.reset();  // the real numbers stay what they are
        } else {
            layer.fail(
                fmt::format("its input is {} with a scale for each index of axis {}, which is no axis of the "
                            "result; it must have one scale",
                            name_of(first.type), *type.quantization->axis));
        }
    }
    return layer.append_as(type, op, std::move(attributes), std::move(inputs));
}

std::vector<std::int64_t> extents_of(const ir::Shape& shape) {
    return {shape.extents().begin(), shape.extents().end()};
}

ir::Shape shape_from(const ir::LayerReader& layer, const std::vector<std::int64_t>& extents) {
    if (extents.size() > ir::Shape::most_extents) {
        layer.fail(fmt::format("its result has {} axes; a tensor has at most {}", extents.size(),
                               ir::Shape::most_extents));
    }
    std::vector<std::uint32_t> checked;
    for (const std::int64_t extent : extents) {
        if (extent < 0 || extent > std::numeric_limits<std::uint32_t>::max()) {
            layer.fail(fmt::format("an extent of its result is {}; it must be from 0 to 4294967295", extent));
        }
        checked.push_back(static_cast<std::uint32_t>(extent));
    }
    return ir::Shape(checked);
}

ir::LayerKind onnx_plain_node(std::string_view op, const char* name, std::size_t inputs) {
    return {.format = ir::Format::Onnx, .name = name, .build = [op, inputs](ir::LayerReader& layer) {
                std::vector<ir::ValueId> ids;
                for (std::size_t i = 0; i < inputs; ++i) ids.push_back(input_of(layer, i));
                return layer.append(op, {}, std::move(ids));
            }};
}

ir::LayerKind tflite_plain_node(std::string_view op, const char* name, std::size_t inputs) {
    return {.format = ir::Format::Tflite, .name = name, .build = [op, inputs](ir::LayerReader& layer) {
                std::vector<ir::ValueId> ids;
                for (std::size_t i = 0; i < inputs; ++i) ids.push_back(input_of(layer, i));
                return ir::Results(append_declared(layer, op, {}, std::move(ids)));
            }};
}

ir::ValueId append_fused_function(ir::LayerReader& layer, ir::ValueId result) {
    constexpr double relu6_maximum = 6.0;
    const std::string function = layer.text(function_key, "NONE");
    if (function == "NONE") return result;
    if (layer.value(result).type != DataType::Float32) {
        layer.fail(function_key, "it must be \"NONE\" on integers without a scale");
    }
    if (function == "RELU") return layer.append("relu", {}, {result});
    if (function == "RELU6") return layer.append("relu", {{"maximum", relu6_maximum}}, {result});
    if (function == "RELU_N1_TO_1") {
        return layer.append("clip", {{"minimum", -1.0}, {"maximum", 1.0}}, {result});
    }
    if (function != "TANH") layer.fail(function_key, "it must be NONE, RELU, RELU6, RELU_N1_TO_1 or TANH");
    return layer.append("tanh", {}, {result});
}

std::vector<std::int64_t> fused_clamp(const ir::LayerReader& layer, const ir::ResultType& result) {
    const std::string function = layer.text(function_key, "NONE");
    if (function == "NONE") return {};
    // As in TFLite, the quotient is that of two float32.
    const auto scale = static_cast<float>(result.quantization->scales.front());
    const std::int64_t zero_point = result.quantization->zero_points.front();
    const std::int64_t lowest = lowest_of(result.type);
    const std::int64_t highest = highest_of(result.type);
    const auto stored = [&](float real) {
        return std::clamp(zero_point + saturated(std::round(real / scale)), lowest, highest);
    };
    if (function == "RELU") return {std::clamp(zero_point, lowest, highest), highest};
    if (function == "RELU6") return {stored(0.0F), stored(6.0F)};
    if (function != "RELU_N1_TO_1") {
        layer.fail(function_key, "it must be NONE, RELU, RELU6 or RELU_N1_TO_1 for a quantized result");
    }
    return {stored(-1.0F), stored(1.0F)};
}

}  // namespace systole::operators

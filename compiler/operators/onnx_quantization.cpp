#include "compiler/operators/onnx_quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stored_integers.h"
#include "compiler/ir/encoding.h"
#include "compiler/operators/onnx_images.h"

namespace systole::operators {
namespace {

std::vector<double> scales_of(const ir::LayerReader& layer, std::size_t input) {
    const ir::Value& value = layer.value(constant_input(layer, input, "scale"));
    if (value.type != DataType::Float32) {
        layer.fail(fmt::format("its scale is {}; it must be float32", name_of(value.type)));
    }
    std::vector<double> scales;
    for (const float scale : value.constant->values<float>()) {
        if (!(scale > 0.0F) || !std::isfinite(scale)) {
            layer.fail(fmt::format("a scale is {}; it must be above 0 and finite", scale));
        }
        scales.push_back(double{scale});
    }
    return scales;
}

}  // namespace

OnnxQuantization onnx_quantization(const ir::LayerReader& layer, std::size_t scale_input,
                                   std::size_t zero_point_input, std::optional<std::uint32_t> axis) {
    OnnxQuantization result;
    ir::Quantization& quantization = result.quantization;
    quantization.scales = scales_of(layer, scale_input);
    quantization.zero_points.assign(quantization.scales.size(), 0);
    if (layer.input_if_any(zero_point_input)) {
        const ir::Value& value = layer.value(constant_input(layer, zero_point_input, "zero point"));
        if (!is_integer(value.type)) {
            layer.fail(fmt::format("its zero point is {}; it must be an integer", name_of(value.type)));
        }
        result.type = value.type;
        if (value.shape.elements() != quantization.scales.size()) {
            layer.fail(fmt::format("it has {} scales and {} zero points; it must have as many of each",
                                   quantization.scales.size(), value.shape.elements()));
        }
        widen(value.constant->bytes().data(), value.type, quantization.zero_points);
    }
    if (quantization.scales.size() != 1) {
        if (!axis) {
            layer.fail(fmt::format("it has {} scales; it must have one", quantization.scales.size()));
        }
        quantization.axis = axis;
    }
    return result;
}

ir::ValueId zero_point_input(ir::LayerReader& layer, std::size_t index, DataType type) {
    const auto input = layer.input_if_any(index);
    if (!input) {
        return layer.add_constant("zero_point", {1}, type,
                                  ir::Constant::of(std::vector<std::uint8_t>(bytes_of(type), 0)));
    }
    const ir::Value& value = layer.value(*input);
    if (value.shape.elements() != 1) {
        layer.fail(fmt::format("its zero point is {}; it must be one number", to_text(value.shape)));
    }
    return *input;
}

ir::ValueId centered_weights(ir::LayerReader& layer, ir::ValueId weights) {
    const ir::Value& value = layer.value(weights);
    ir::Quantization quantization = *value.quantization;
    const bool is_centered =
        std::ranges::all_of(quantization.zero_points, [](std::int32_t z) { return z == 0; });
    if ((value.type == DataType::Int8 && is_centered) || bytes_of(value.type) != 1 ||
        !value.constant->is_known()) {
        return weights;
    }
    std::vector<std::int32_t> numbers(value.shape.elements());
    widen(value.constant->bytes().data(), value.type, numbers);
    const ir::ScaleAxis scales = scale_axis(value);
    const auto difference = [&](std::size_t i) {
        return numbers[i] - quantization.zero_points[scales.index_of(i)];
    };
    bool has_room = true;
    for (std::size_t i = 0; i < numbers.size() && has_room; ++i) {
        has_room = difference(i) >= lowest_of(DataType::Int8) && difference(i) <= highest_of(DataType::Int8);
    }
    if (!has_room && (quantization.axis || value.type == DataType::Int8)) return weights;
    constexpr std::int32_t byte_offset = 128;
    std::vector<std::int8_t> centered;
    centered.reserve(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        centered.push_back(static_cast<std::int8_t>(has_room ? difference(i) : numbers[i] - byte_offset));
    }
    if (has_room) {
        std::ranges::fill(quantization.zero_points, 0);
    } else {
        quantization.zero_points.front() -= byte_offset;
    }
    const ir::ValueId added = layer.add_constant("weights", ir::Shape(value.shape), DataType::Int8,
                                                 ir::Constant::of(std::move(centered)));
    return layer.as_quantized(added, quantization);
}

std::uint32_t onnx_axis(const ir::LayerReader& layer, const char* key, std::int64_t absent,
                        std::size_t rank) {
    std::int64_t axis = absent;
    if (const auto values = layer.integers(key)) {
        if (values->size() != 1 || !values->front()) layer.fail(key, "it must be one integer");
        axis = *values->front();
    }
    const auto extents = static_cast<std::int64_t>(rank);
    if (axis < 0) axis += extents;
    if (axis < 0 || axis >= extents) {
        layer.fail(key, fmt::format("it must be an axis of its input, {} to {}", -extents, extents - 1));
    }
    return static_cast<std::uint32_t>(axis);
}

}  // namespace systole::operators

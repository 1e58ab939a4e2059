// x clamped between a minimum and a maximum.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float clip_of(float x, const FunctionParameters& parameters) {
    return std::min(std::max(x, parameters.minimum), parameters.maximum);
}

Word clip_words(const Word& x, const FunctionParameters& parameters) {
    Word result = x;
    if (parameters.minimum > -std::numeric_limits<float>::infinity())
        result = maximum(result, parameters.minimum);
    if (parameters.maximum < std::numeric_limits<float>::infinity())
        result = minimum(result, parameters.maximum);
    return result;
}

constexpr double unlimited_value = std::numeric_limits<double>::infinity();

/// A clamp with known limits; one from 0 on is a ReLU.
ir::ValueId append_clip(ir::LayerReader& layer, ir::ValueId x, double minimum, double maximum) {
    if (minimum == 0.0 && maximum >= 0.0) return layer.append("relu", {{"maximum", maximum}}, {x});
    return layer.append("clip", {{"minimum", minimum}, {"maximum", maximum}}, {x});
}

/// ONNX: the limits are inputs, which may be computed, or attributes before operator set 11.
ir::Results read_onnx_clip(ir::LayerReader& layer) {
    const ir::ValueId x = input_of(layer, 0);
    const auto limit = [&](std::size_t index, const char* key, double absent) -> std::optional<double> {
        if (layer.has(key)) {
            // The largest float32 stands for no limit in old files.
            const float given = layer.number(key, 0.0F);
            if (std::abs(given) == std::numeric_limits<float>::max()) return absent;
            return double{given};
        }
        const auto id = layer.input_if_any(index);
        if (!id) return absent;
        const ir::Value& value = layer.value(*id);
        if (!value.constant || !value.constant->is_known() || value.type != DataType::Float32)
            return std::nullopt;
        return double{value.constant->values<float>().front()};
    };
    const auto minimum = limit(1, "min", -unlimited_value);
    const auto maximum = limit(2, "max", unlimited_value);
    if (minimum && maximum && layer.value(x).type == DataType::Float32) {
        return append_clip(layer, x, *minimum, *maximum);
    }
    ir::ValueId result = x;
    if (const auto least = layer.input_if_any(1)) result = layer.append("maximum", {}, {result, *least});
    if (const auto greatest = layer.input_if_any(2))
        result = layer.append("minimum", {}, {result, *greatest});
    return result;
}

ir::LayerKind onnx_clip() {
    return {
        .format = ir::Format::Onnx,
        .name = "Clip",
        .keys = {{"min", "`minimum`, before operator set 11"}, {"max", "`maximum`, before operator set 11"}},
        .build = read_onnx_clip};
}

}  // namespace

std::unique_ptr<ir::Operator> make_clip() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "clip",
        .summary = "x clamped between a minimum and a maximum.",
        .apply = apply_to_all<clip_of>,
        .words = clip_words,
        .attributes = {{.name = "minimum", .meaning = "the least result", .absent = -unlimited_value},
                       {.name = "maximum", .meaning = "the greatest result", .absent = unlimited_value}},
        .layers = {onnx_clip()}});
}

}  // namespace systole::operators

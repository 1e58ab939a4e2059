#include "compiler/operators/resize/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/operators/file_nodes.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/resize/coordinates.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

struct ResizeRule {
    std::string mode = "nearest";
    std::string coordinates = "asymmetric";
    std::string nearest = "floor";
    Reals scales = {};
    double cubic = -0.75;
    bool exclude_outside = false;
    bool is_exact = false;
};

ir::Results append_resize(ir::LayerReader& layer, ir::ValueId input, const Integers& extents,
                          const ResizeRule& rule) {
    const Integers shape = extents_of(shape_from(layer, extents));
    if (shape == extents_of(layer.value(input).shape) &&
        std::ranges::all_of(rule.scales, [](double scale) { return scale == 1.0; })) {
        return input;
    }
    return append_same(layer, "resize",
                       {{"shape", shape},
                        {"mode", rule.mode},
                        {"coordinates", rule.coordinates},
                        {"nearest", rule.nearest},
                        {"scales", rule.scales},
                        {"cubic", rule.cubic},
                        {"exclude_outside", std::int64_t{rule.exclude_outside ? 1 : 0}},
                        {"exact", std::int64_t{rule.is_exact ? 1 : 0}}},
                       {input});
}

/// The extents of a result with these scales, rounded down in float32.
Integers scaled_extents(const ir::LayerReader& layer, const ir::Shape& shape, const Reals& scales) {
    Integers extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const float extent = std::floor(static_cast<float>(shape[axis]) * static_cast<float>(scales[axis]));
        if (!(scales[axis] > 0.0) ||
            !(extent < static_cast<float>(std::numeric_limits<std::int32_t>::max()))) {
            layer.fail(
                fmt::format("a scale is {}; it must be above 0, and the result not too large", scales[axis]));
        }
        extents.push_back(static_cast<std::int64_t>(extent));
    }
    return extents;
}

ResizeRule rule_of_mode(const ir::LayerReader& layer) {
    ResizeRule rule;
    rule.mode = layer.text("mode", "nearest");
    if (rule.mode == "bilinear") rule.mode = "linear";
    if (rule.mode != "nearest" && rule.mode != "linear" && rule.mode != "cubic") {
        layer.fail("mode", "it must be nearest, linear or cubic");
    }
    return rule;
}

/// Upsample, and Resize of operator set 10: scales only; coordinates are asymmetric. Only ONNX Runtime
/// defines them, which divides in float32.
ir::Results read_scaled(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    ResizeRule rule = rule_of_mode(layer);
    const auto scales = layer.has("scales") ? layer.numbers("scales") : constant_reals_if_any(layer, 1);
    if (!scales || scales->size() != shape.rank())
        layer.fail("its scales must have one number for each axis");
    rule.scales = *scales;
    rule.nearest = "ceil_where_shrinking";
    return append_resize(layer, input, scaled_extents(layer, shape, rule.scales), rule);
}

/// The numbers for the listed axes, and `other` for the rest.
template <typename Number>
std::vector<Number> for_all_axes(const ir::LayerReader& layer, const std::vector<Number>& given,
                                 const std::vector<Number>& other) {
    const auto axes = integers_of(layer, "axes");
    if (!axes) {
        if (given.size() != other.size())
            layer.fail("its scales or sizes must have one number for each axis");
        return given;
    }
    if (given.size() != axes->size()) layer.fail("axes", "there must be a scale or a size for each");
    std::vector<Number> all = other;
    for (std::size_t i = 0; i < given.size(); ++i) all[axis_in(layer, (*axes)[i], other.size())] = given[i];
    return all;
}

ir::Results read_onnx_resize(ir::LayerReader& layer) {
    if (layer.inputs().size() == 2) return read_scaled(layer);
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    ResizeRule rule = rule_of_mode(layer);
    rule.coordinates = layer.text("coordinate_transformation_mode", "half_pixel");
    if (std::ranges::find(coordinate_modes(), rule.coordinates) == coordinate_modes().end()) {
        layer.fail("coordinate_transformation_mode", "this mode is not supported");
    }
    rule.nearest = layer.text("nearest_mode", "round_prefer_floor");
    if (std::ranges::find(nearest_modes(), rule.nearest) == nearest_modes().end() ||
        rule.nearest == "ceil_where_shrinking") {
        layer.fail("nearest_mode", "it must be round_prefer_floor, round_prefer_ceil, floor or ceil");
    }
    if (flag_of(layer, "antialias", false)) layer.fail("antialias", "only 0 is supported");
    layer.require_text("keep_aspect_ratio_policy", "stretch");
    rule.cubic = layer.number("cubic_coeff_a", static_cast<float>(rule.cubic));
    rule.exclude_outside = flag_of(layer, "exclude_outside", false);
    rule.is_exact = true;
    const auto scales = constant_reals_if_any(layer, 2);
    if (scales && !scales->empty()) {
        rule.scales = for_all_axes(layer, *scales, Reals(shape.rank(), 1.0));
        return append_resize(layer, input, scaled_extents(layer, shape, rule.scales), rule);
    }
    const auto sizes = constant_integers_if_any(layer, 3);
    if (!sizes || sizes->empty()) layer.fail("its scales or its sizes must be given");
    return append_resize(layer, input, for_all_axes(layer, *sizes, extents_of(shape)), rule);
}

ir::Results read_tflite_resize(ir::LayerReader& layer, const std::string& mode) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const Integers size = constant_integers(layer, 1);
    if (shape.rank() != 4 || size.size() != 2)
        layer.fail("it must have an input of 4 axes and a size of 2 numbers");
    const bool align_corners = flag_of(layer, "align_corners", false);
    const bool half_pixel = flag_of(layer, "half_pixel_centers", false);
    if (align_corners && half_pixel)
        layer.fail("half_pixel_centers", "it must be false if align_corners is true");
    ResizeRule rule{.mode = mode};
    if (align_corners) {
        rule.coordinates = "align_corners";
        rule.nearest = "round_prefer_ceil";
    } else if (half_pixel) {
        rule.coordinates = mode == "nearest" ? "tf_half_pixel_for_nn" : "half_pixel";
    }
    return append_resize(layer, input, {shape[0], size[0], size[1], shape[3]}, rule);
}

/// Keras UpSampling1D and UpSampling2D: each axis behind the batch becomes `size` times as long.
ir::Results read_keras_upsampling(ir::LayerReader& layer, std::size_t axes) {
    layer.require_text("data_format", "channels_last");
    const ir::ValueId input = layer.input();
    const ir::Shape shape = layer.value(input).shape;
    if (shape.rank() != axes + 2)
        layer.fail(fmt::format("its input must have {} axes behind the batch", axes + 1));
    const auto size = axes == 1 ? std::array<std::uint32_t, 2>{keras_length(layer, "size", 2), 1}
                                : layer.positive_pair("size", std::array<std::uint32_t, 2>{2, 2});
    ResizeRule rule;
    const std::string interpolation = layer.text("interpolation", "nearest");
    if (interpolation == "bilinear") {
        rule.mode = "linear";
        rule.coordinates = "half_pixel";
    } else if (interpolation != "nearest") {
        layer.fail("interpolation", "it must be nearest or bilinear");
    }
    Integers extents = extents_of(shape);
    rule.scales.assign(shape.rank(), 1.0);
    for (std::size_t i = 0; i < axes; ++i) {
        extents[i + 1] *= size.at(i);
        rule.scales[i + 1] = size.at(i);
    }
    return append_resize(layer, input, extents, rule);
}

/// Keras Resizing.
ir::Results read_keras_resizing(ir::LayerReader& layer) {
    layer.require_text("data_format", "channels_last");
    const ir::ValueId input = layer.input();
    const ir::Shape shape = layer.value(input).shape;
    if (shape.rank() != 4) layer.fail("its input must be an image");
    if (layer.boolean("crop_to_aspect_ratio", false))
        layer.fail("crop_to_aspect_ratio", "only false is supported");
    const std::string interpolation = layer.text("interpolation", "bilinear");
    if (interpolation != "bilinear" && interpolation != "nearest") {
        layer.fail("interpolation", "it must be nearest or bilinear");
    }
    ResizeRule rule{.mode = interpolation == "nearest" ? "nearest" : "linear",
                    .coordinates = interpolation == "nearest" ? "tf_half_pixel_for_nn" : "half_pixel"};
    return append_resize(layer, input,
                         {shape[0], layer.positive("height"), layer.positive("width"), shape[3]}, rule);
}

/// Of graph files: images alone.
ir::Results read_json_resize(ir::LayerReader& layer) {
    const ir::ValueId input = layer.input();
    const ir::Shape shape = layer.value(input).shape;
    if (shape.rank() != 4) layer.fail("its input must be an image");
    const auto size = layer.positive_pair("size");
    const std::string interpolation = layer.text("interpolation", "bilinear");
    if (interpolation != "bilinear" && interpolation != "nearest") {
        layer.fail("interpolation", "it must be nearest or bilinear");
    }
    ResizeRule rule{.mode = interpolation == "nearest" ? "nearest" : "linear"};
    if (rule.mode == "linear") rule.coordinates = "half_pixel";
    return append_resize(layer, input, {shape[0], size[0], size[1], shape[3]}, rule);
}

std::vector<ir::LayerKey> tflite_resize_keys() {
    return {{"align_corners", "`coordinates`: align_corners"},
            {"half_pixel_centers", "`coordinates`: half pixels"}};
}

std::vector<ir::LayerKey> upsampling_keys() {
    return {{"size", "the factors"}, {"interpolation", "`mode`"}, {"data_format", keras_data_format}};
}

}  // namespace

std::vector<ir::LayerKind> resize_layers() {
    return {
        {.format = ir::Format::Onnx,
         .name = "Resize",
         .keys = {{"mode", "`mode`"},
                  {"scales", "`scales`, before operator set 9"},
                  {"coordinate_transformation_mode", "`coordinates`; tf_crop_and_resize is not supported"},
                  {"nearest_mode", "`nearest`"},
                  {"cubic_coeff_a", "`cubic`"},
                  {"exclude_outside", "`exclude_outside`"},
                  {"extrapolation_value", "nothing: only tf_crop_and_resize uses it"},
                  {"antialias", "only 0"},
                  {"axes", "the axes of scales and sizes"},
                  {"keep_aspect_ratio_policy", "only stretch"}},
         .build = read_onnx_resize},
        {.format = ir::Format::Onnx,
         .name = "Upsample",
         .keys = {{"mode", "`mode`"}, {"scales", "`scales`, before operator set 9"}},
         .build = read_scaled},
        {.format = ir::Format::Tflite,
         .name = "RESIZE_BILINEAR",
         .keys = tflite_resize_keys(),
         .build = [](ir::LayerReader& layer) { return read_tflite_resize(layer, "linear"); }},
        {.format = ir::Format::Tflite,
         .name = "RESIZE_NEAREST_NEIGHBOR",
         .keys = tflite_resize_keys(),
         .build = [](ir::LayerReader& layer) { return read_tflite_resize(layer, "nearest"); }},
        {.format = ir::Format::GraphJson,
         .name = "resize",
         .keys = {{"size", "the height and the width of the result"},
                  {"interpolation", "`mode`: bilinear, with half pixels, or nearest"}},
         .build = read_json_resize},
        {.format = ir::Format::Keras,
         .name = "UpSampling1D",
         .keys = upsampling_keys(),
         .build = [](ir::LayerReader& layer) { return read_keras_upsampling(layer, 1); }},
        {.format = ir::Format::Keras,
         .name = "UpSampling2D",
         .keys = upsampling_keys(),
         .build = [](ir::LayerReader& layer) { return read_keras_upsampling(layer, 2); }},
        {.format = ir::Format::Keras,
         .name = "Resizing",
         .keys = {{"height", "`shape`"},
                  {"width", "`shape`"},
                  {"interpolation", "`mode`"},
                  {"crop_to_aspect_ratio", "only false"},
                  {"data_format", keras_data_format}},
         .build = read_keras_resizing}};
}

}  // namespace systole::operators

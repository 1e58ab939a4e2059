#include "compiler/operators/onnx_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/graph.h"

namespace systole::operators {
namespace {

constexpr std::size_t line_rank = 3;
constexpr std::size_t image_rank = 4;

using Integers = std::vector<std::int64_t>;

/// One direction of a node's windows.
struct WindowAxis {
    std::uint32_t input, kernel, stride, dilation;
    ir::Padding padding;
};

/// TensorFlow's "same" padding; if it is odd, the `upper` end or the lower one gets one more.
ir::Padding same_sides(const WindowAxis& axis, bool upper) {
    const std::uint64_t covered = ir::covered_extent(axis.kernel, axis.dilation);
    const std::uint64_t windows = divide_up(std::uint64_t{axis.input}, std::uint64_t{axis.stride});
    const std::uint64_t reached = (windows - 1) * axis.stride + covered;
    const std::uint64_t total = reached > axis.input ? reached - axis.input : 0;
    const auto less = static_cast<std::uint32_t>(total / 2);
    const auto more = static_cast<std::uint32_t>(total - total / 2);
    return upper ? ir::Padding{less, more} : ir::Padding{more, less};
}

/// The padding with which the number of windows is rounded up, as ONNX does: the last one begins inside the
/// image or the padding before it.
ir::Padding rounded_up(const WindowAxis& axis) {
    const std::uint64_t covered = ir::covered_extent(axis.kernel, axis.dilation);
    const std::uint64_t padded = std::uint64_t{axis.input} + axis.padding.before + axis.padding.after;
    if (covered > padded) return axis.padding;  // reported where the result's size is computed
    std::uint64_t windows = divide_up(padded - covered, std::uint64_t{axis.stride}) + 1;
    if ((windows - 1) * axis.stride >= std::uint64_t{axis.input} + axis.padding.before) --windows;
    const std::uint64_t reached = (windows - 1) * axis.stride + covered;
    const std::uint64_t needed = std::uint64_t{axis.input} + axis.padding.before;
    return {axis.padding.before, static_cast<std::uint32_t>(reached > needed ? reached - needed : 0)};
}

}  // namespace

ir::ValueId channels_last(ir::LayerReader& layer, ir::ValueId tensor) {
    const ir::Shape& shape = layer.value(tensor).shape;
    const std::uint32_t batch = layer.value(tensor).constant ? 1 : layer.batch();
    if ((shape.rank() != line_rank && shape.rank() != image_rank) || shape[0] != batch) {
        layer.fail(fmt::format(
            "its input is {}; it must be {} x channels x width or {} x channels x height x width, others are "
            "not supported",
            to_text(shape), batch, batch));
    }
    const Integers permutation = shape.rank() == line_rank ? Integers{0, 2, 1} : Integers{0, 2, 3, 1};
    return layer.append("transpose", {{"permutation", permutation}}, {tensor});
}

ir::ValueId channels_first(ir::LayerReader& layer, ir::ValueId image, std::size_t rank) {
    if (rank == line_rank) {
        const ir::Shape shape = layer.value(image).shape;
        if (shape.rank() == image_rank) {
            image = layer.append("reshape", {{"shape", Integers{shape[0], shape[2], shape[3]}}}, {image});
        }
        return layer.append("transpose", {{"permutation", Integers{0, 2, 1}}}, {image});
    }
    return layer.append("transpose", {{"permutation", Integers{0, 3, 1, 2}}}, {image});
}

ir::ValueId permuted_constant(ir::LayerReader& layer, ir::ValueId constant, const Integers& permutation) {
    ir::ResultType type{layer.value(constant).type, layer.value(constant).quantization};
    if (type.quantization && type.quantization->axis) {
        const auto axis = std::ranges::find(permutation, std::int64_t{*type.quantization->axis});
        type.quantization->axis = static_cast<std::uint32_t>(axis - permutation.begin());
    }
    return layer.append_as(type, "transpose", {{"permutation", permutation}}, {constant});
}

ir::ValueId kernel_last(ir::LayerReader& layer, ir::ValueId weights) {
    if (layer.value(weights).shape.rank() == image_rank) {
        return permuted_constant(layer, weights, {2, 3, 1, 0});
    }
    const ir::ValueId line = permuted_constant(layer, weights, {2, 1, 0});
    const ir::Value& value = layer.value(line);
    ir::ResultType type{value.type, value.quantization};
    if (type.quantization && type.quantization->axis) ++*type.quantization->axis;
    const Integers shape{1, value.shape[0], value.shape[1], value.shape[2]};
    return layer.append_as(type, "reshape", {{"shape", shape}}, {line});
}

ir::ValueId constant_input(const ir::LayerReader& layer, std::size_t index, const char* role) {
    const auto input = layer.input_if_any(index);
    if (!input)
        layer.fail(
            fmt::format("its input {} ({}) is absent or has no elements; it must be given", index, role));
    const ir::Value& value = layer.value(*input);
    if (!value.constant) {
        layer.fail(fmt::format(
            "its input {} ({}) is computed by the network; it must be a constant, others are not supported",
            index, role));
    }
    return *input;
}

bool onnx_flag(const ir::LayerReader& layer, const char* key, bool absent) {
    const auto values = layer.integers(key);
    if (!values) return absent;
    if (values->size() != 1 || !values->front()) layer.fail(key, "it must be 0 or 1");
    return *values->front() != 0;
}

std::vector<ir::LayerKey> onnx_window_keys() {
    return {{"kernel_shape", "`kernel`"},
            {"strides", "`stride`"},
            {"pads", "`padding`"},
            {"auto_pad", "`padding`: NOTSET, VALID, SAME_UPPER or SAME_LOWER"},
            {"dilations", "`dilation`"}};
}

std::vector<std::uint32_t> onnx_extents(const ir::LayerReader& layer, const char* key, std::size_t count,
                                        std::uint32_t absent, std::uint32_t least) {
    std::vector<std::uint32_t> extents(count, absent);
    const auto values = layer.integers(key);
    if (!values) return extents;
    const auto wrong = [&] {
        layer.fail(key, fmt::format("it must be {} integers from {} to 2^31 - 1", count, least));
    };
    if (values->size() != count) wrong();
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t value = (*values)[i].value_or(-1);
        if (value < std::int64_t{least} || value > std::numeric_limits<std::int32_t>::max()) wrong();
        extents[i] = static_cast<std::uint32_t>(value);
    }
    return extents;
}

std::vector<std::uint32_t> onnx_kernel(const ir::LayerReader& layer, std::size_t spatial) {
    if (!layer.has("kernel_shape")) layer.fail("kernel_shape", "it must be given");
    return onnx_extents(layer, "kernel_shape", spatial, 1, 1);
}

ir::Window onnx_window(const ir::LayerReader& layer, const ir::FeatureMap& image,
                       const std::vector<std::uint32_t>& kernel, bool has_ceil_mode) {
    const std::size_t spatial = kernel.size();
    const auto strides = onnx_extents(layer, "strides", spatial, 1, 1);
    const auto dilations = onnx_extents(layer, "dilations", spatial, 1, 1);
    const std::string auto_pad = layer.text("auto_pad", "NOTSET");
    const bool is_explicit = auto_pad == "NOTSET" || auto_pad.empty();
    const auto pads = is_explicit ? onnx_extents(layer, "pads", 2 * spatial, 0, 0)
                                  : std::vector<std::uint32_t>(2 * spatial, 0);
    std::vector<WindowAxis> axes;
    for (std::size_t i = 0; i < spatial; ++i) {
        const std::uint32_t input = spatial == 2 && i == 0 ? image.height : image.width;
        axes.push_back({input, kernel[i], strides[i], dilations[i], {pads[i], pads[spatial + i]}});
        WindowAxis& axis = axes.back();
        if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
            axis.padding = same_sides(axis, auto_pad == "SAME_UPPER");
        } else if (!is_explicit && auto_pad != "VALID") {
            layer.fail("auto_pad", "it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
        }
        if (has_ceil_mode && onnx_flag(layer, "ceil_mode", false)) axis.padding = rounded_up(axis);
    }
    if (spatial == 1) axes.insert(axes.begin(), {1, 1, 1, 1, {0, 0}});
    return {.kernel_height = axes[0].kernel,
            .kernel_width = axes[1].kernel,
            .stride_y = axes[0].stride,
            .stride_x = axes[1].stride,
            .pad_top = axes[0].padding.before,
            .pad_left = axes[1].padding.before,
            .pad_bottom = axes[0].padding.after,
            .pad_right = axes[1].padding.after,
            .dilation_y = axes[0].dilation,
            .dilation_x = axes[1].dilation};
}

}  // namespace systole::operators

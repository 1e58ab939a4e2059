#include "compiler/operators/pool_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiler/operators/file_nodes.h"
#include "compiler/operators/onnx_images.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

/// From this opset on, averages leave out what lies behind the padding, in windows that `ceil_mode` adds.
constexpr std::int64_t first_opset_without_overhang = 19;

/// Which borders of zeros count in the average of a window.
enum class Counted : std::uint8_t { None, Padding, PaddingAndOverhang };

ir::ValueId append_pool(ir::LayerReader& layer, const char* op, ir::ValueId image, const ir::Window& window,
                        std::size_t rank) {
    return channels_first(layer, layer.append(op, ir::attributes_of(window), {image}), rank);
}

ir::Results read_pool(ir::LayerReader& layer, const char* op, Counted counted) {
    const std::size_t rank = layer.value(layer.input()).shape.rank();
    ir::ValueId image = channels_last(layer, layer.input());
    const ir::Window declared = onnx_window(layer, layer.map_of(image), onnx_kernel(layer, rank - 2), false);
    const ir::Window rounded = onnx_window(layer, layer.map_of(image), onnx_kernel(layer, rank - 2), true);
    ir::Window window = rounded;
    if (counted != Counted::None) {
        // Borders that count are part of the image.
        ir::Window border = counted == Counted::Padding ? declared : rounded;
        border.pad_bottom = std::max(border.pad_bottom, declared.pad_bottom);
        border.pad_right = std::max(border.pad_right, declared.pad_right);
        const Integers sides{border.pad_top, border.pad_left, border.pad_bottom, border.pad_right};
        if (sides != Integers{0, 0, 0, 0}) {
            image = layer.append("zero_padding", {{"padding", sides}}, {image});
        }
        window.pad_bottom =
            rounded.pad_bottom > border.pad_bottom ? rounded.pad_bottom - border.pad_bottom : 0;
        window.pad_right = rounded.pad_right > border.pad_right ? rounded.pad_right - border.pad_right : 0;
        window.pad_top = window.pad_left = 0;
    }
    return append_pool(layer, op, image, window, rank);
}

ir::Results read_global_pool(ir::LayerReader& layer, const char* op) {
    const std::size_t rank = layer.value(layer.input()).shape.rank();
    const ir::ValueId image = channels_last(layer, layer.input());
    const ir::FeatureMap map = layer.map_of(image);
    return append_pool(layer, op, image, {.kernel_height = map.height, .kernel_width = map.width}, rank);
}

}  // namespace

std::vector<ir::LayerKey> onnx_pool_keys(std::vector<ir::LayerKey> own) {
    std::vector<ir::LayerKey> keys = onnx_window_keys();
    keys.push_back({"ceil_mode", "`padding`: whether the number of windows is rounded up"});
    keys.insert(keys.end(), own.begin(), own.end());
    return keys;
}

std::vector<ir::LayerKind> onnx_max_pools() {
    return {{ir::Format::Onnx, "MaxPool",
             onnx_pool_keys({{"storage_order", "nothing: the second result, the indices, is not supported"}}),
             [](ir::LayerReader& layer) { return read_pool(layer, "max_pool", Counted::None); }},
            {ir::Format::Onnx, "GlobalMaxPool", {}, [](ir::LayerReader& layer) {
                 return read_global_pool(layer, "max_pool");
             }}};
}

std::vector<ir::LayerKind> onnx_average_pools() {
    return {
        {ir::Format::Onnx, "AveragePool",
         onnx_pool_keys({{"count_include_pad",
                          "whether a `zero_padding` comes before it; before operator set 19, also for the "
                          "pixels that `ceil_mode` adds behind the padding"},
                         opset_entry()}),
         [](ir::LayerReader& layer) {
             Counted counted = Counted::None;
             if (onnx_flag(layer, "count_include_pad", false)) {
                 const bool is_new = opset_of(layer) >= first_opset_without_overhang;
                 counted = is_new ? Counted::Padding : Counted::PaddingAndOverhang;
             }
             return read_pool(layer, "average_pool", counted);
         }},
        {ir::Format::Onnx, "GlobalAveragePool", {}, [](ir::LayerReader& layer) {
             return read_global_pool(layer, "average_pool");
         }}};
}

}  // namespace systole::operators

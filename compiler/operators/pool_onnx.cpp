#include "compiler/operators/pool_onnx.h"

#include <fmt/format.h>

#include "compiler/operators/onnx_images.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

ir::ValueId append_pool(ir::LayerReader& layer, const char* op, ir::ValueId image, const ir::Window& window,
                        std::size_t rank) {
    return channels_first(layer, layer.append(op, ir::attributes_of(window), {image}), rank);
}

ir::Results read_pool(ir::LayerReader& layer, const char* op, bool counts_padding) {
    const std::size_t rank = layer.value(layer.input()).shape.rank();
    ir::ValueId image = channels_last(layer, layer.input());
    ir::Window window = onnx_window(layer, layer.map_of(image), onnx_kernel(layer, rank - 2), false);
    const ir::Window rounded = onnx_window(layer, layer.map_of(image), onnx_kernel(layer, rank - 2), true);
    if (counts_padding) {
        // Borders that count are part of the image; those that rounding up adds do not count.
        const Integers sides{window.pad_top, window.pad_left, window.pad_bottom, window.pad_right};
        if (sides != Integers{0, 0, 0, 0}) {
            image = layer.append("zero_padding", {{"padding", sides}}, {image});
        }
        window.pad_bottom =
            rounded.pad_bottom > window.pad_bottom ? rounded.pad_bottom - window.pad_bottom : 0;
        window.pad_right = rounded.pad_right > window.pad_right ? rounded.pad_right - window.pad_right : 0;
        window.pad_top = window.pad_left = 0;
    } else {
        window = rounded;
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
             [](ir::LayerReader& layer) { return read_pool(layer, "max_pool", false); }},
            {ir::Format::Onnx, "GlobalMaxPool", {}, [](ir::LayerReader& layer) {
                 return read_global_pool(layer, "max_pool");
             }}};
}

std::vector<ir::LayerKind> onnx_average_pools() {
    return {{ir::Format::Onnx, "AveragePool",
             onnx_pool_keys({{"count_include_pad", "whether a `zero_padding` comes before it"}}),
             [](ir::LayerReader& layer) {
                 return read_pool(layer, "average_pool", onnx_flag(layer, "count_include_pad", false));
             }},
            {ir::Format::Onnx, "GlobalAveragePool", {}, [](ir::LayerReader& layer) {
                 return read_global_pool(layer, "average_pool");
             }}};
}

}  // namespace systole::operators

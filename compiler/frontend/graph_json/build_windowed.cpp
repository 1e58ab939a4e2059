// Layers that move a window over the image: pooling, and what they share with convolutions.
#include <array>

#include "compiler/frontend/graph_json/builders.h"
#include "compiler/frontend/json_values.h"
#include "compiler/frontend/same_padding.h"
#include "compiler/graph/operators/pool.h"

namespace systole::frontend::graph_json {
namespace {

graph::NodeId append_pool(LayerContext& context, graph::PoolKind kind, const graph::Window& window) {
    return context.append(std::make_unique<graph::Pool>(kind, window), {context.input()});
}

graph::Window whole_image(const graph::Shape& shape) {
    return {.kernel_height = shape.height, .kernel_width = shape.width};
}

}  // namespace

std::array<std::uint32_t, 4> read_sides(const LayerConfig& config, const char* key) {
    constexpr const char* rule = "it must be [top, left, bottom, right], each an integer, at least 0";
    const nlohmann::json* const value = config.find(key);
    std::array<std::uint32_t, 4> sides{};
    if (value == nullptr || !value->is_array() || value->size() != sides.size()) config.fail(key, rule);
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const auto side = as_unsigned((*value)[i]);
        if (!side) config.fail(key, rule);
        sides.at(i) = *side;
    }
    return sides;
}

graph::Window read_window(const LayerContext& context,
                          const std::optional<std::array<std::uint32_t, 2>>& default_stride) {
    const LayerConfig& config = context.config;
    const auto kernel = config.positive_pair("kernel");
    const auto stride = config.positive_pair("stride", default_stride.value_or(kernel));
    graph::Window window{
        .kernel_height = kernel[0], .kernel_width = kernel[1], .stride_y = stride[0], .stride_x = stride[1]};
    const nlohmann::json* const padding = config.find("padding");
    if (padding == nullptr || *padding == "valid") return window;
    if (*padding == "same") {
        const graph::Shape input = context.input_shape();
        const Padding vertical = same_padding(input.height, kernel[0], stride[0]);
        const Padding horizontal = same_padding(input.width, kernel[1], stride[1]);
        window.pad_top = vertical.before;
        window.pad_bottom = vertical.after;
        window.pad_left = horizontal.before;
        window.pad_right = horizontal.after;
        return window;
    }
    if (!padding->is_array()) {
        config.fail("padding", "it must be \"valid\", \"same\" or [top, left, bottom, right]");
    }
    const auto [top, left, bottom, right] = read_sides(config, "padding");
    window.pad_top = top;
    window.pad_left = left;
    window.pad_bottom = bottom;
    window.pad_right = right;
    return window;
}

graph::NodeId build_max_pool(LayerContext& context) {
    return append_pool(context, graph::PoolKind::Max, read_window(context, std::nullopt));
}
graph::NodeId build_average_pool(LayerContext& context) {
    return append_pool(context, graph::PoolKind::Average, read_window(context, std::nullopt));
}
graph::NodeId build_global_max_pool(LayerContext& context) {
    return append_pool(context, graph::PoolKind::Max, whole_image(context.input_shape()));
}
graph::NodeId build_global_average_pool(LayerContext& context) {
    return append_pool(context, graph::PoolKind::Average, whole_image(context.input_shape()));
}

}  // namespace systole::frontend::graph_json

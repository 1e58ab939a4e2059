// Layers that move elements without changing them.
#include "compiler/frontend/graph_json/builders.h"
#include "compiler/frontend/json_values.h"
#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/slice.h"
#include "compiler/graph/operators/zero_padding.h"

namespace systole::frontend::graph_json {

graph::Shape read_shape(const LayerConfig& config, const char* key) {
    constexpr const char* rule = "it must be [n] or [height, width, channels], each an integer, at least 1";
    const nlohmann::json* const value = config.find(key);
    if (value == nullptr || !value->is_array() || (value->size() != 1 && value->size() != 3)) {
        config.fail(key, rule);
    }
    std::vector<std::uint32_t> extents;
    for (const nlohmann::json& entry : *value) {
        const auto extent = as_unsigned(entry);
        if (!extent || *extent == 0) config.fail(key, rule);
        extents.push_back(*extent);
    }
    if (extents.size() == 1) return {1, 1, extents[0]};
    return {extents[0], extents[1], extents[2]};
}

graph::NodeId build_flatten(LayerContext& context) {
    const auto elements = static_cast<std::uint32_t>(context.input_shape().elements());
    return context.append(std::make_unique<graph::Reshape>(graph::Shape{1, 1, elements}), {context.input()});
}

graph::NodeId build_reshape(LayerContext& context) {
    return context.append(std::make_unique<graph::Reshape>(read_shape(context.config, "shape")),
                          {context.input()});
}

graph::NodeId build_zero_padding(LayerContext& context) {
    const auto [top, left, bottom, right] = read_sides(context.config, "padding");
    auto padding = std::make_unique<graph::ZeroPadding>();
    padding->top = top;
    padding->left = left;
    padding->bottom = bottom;
    padding->right = right;
    return context.append(std::move(padding), {context.input()});
}

graph::NodeId build_slice(LayerContext& context) {
    const std::uint32_t first = read_unsigned(context.config, "first");
    const std::uint32_t count = context.config.positive("count");
    return context.append(std::make_unique<graph::Slice>(first, count), {context.input()});
}

graph::NodeId build_concat(LayerContext& context) {
    return context.append(std::make_unique<graph::Concat>(), context.inputs);
}

}  // namespace systole::frontend::graph_json

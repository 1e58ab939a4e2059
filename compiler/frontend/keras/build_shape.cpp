// Layers that change or combine shapes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/frontend/json_values.h"
#include "compiler/frontend/keras/builders.h"
#include "compiler/graph/operators/add.h"
#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/zero_padding.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

/// A vector or an image, in Keras' order.
std::optional<graph::Shape> to_shape(const std::vector<std::uint32_t>& dimensions) {
    if (dimensions.size() == 1) return graph::Shape{1, 1, dimensions[0]};
    if (dimensions.size() == 3) return graph::Shape{dimensions[0], dimensions[1], dimensions[2]};
    return std::nullopt;
}

/// [before, after], each 0 or more.
std::array<std::uint32_t, 2> both_sides(const LayerConfig& config, const json& value) {
    constexpr const char* rule = "it must be a, [a, b] or [[a, b], [c, d]], each an integer, at least 0";
    const bool pair = value.is_array() && value.size() == 2;
    const auto before = as_unsigned(pair ? value[0] : value);
    const auto after = as_unsigned(pair ? value[1] : value);
    if (!before || !after) config.fail("padding", rule);
    return {*before, *after};
}

}  // namespace

graph::NodeId build_input(LayerContext& context) {
    const json& value = context.config.any_of({"batch_shape", "batch_input_shape"});
    const char* const key =
        context.config.find("batch_shape") != nullptr ? "batch_shape" : "batch_input_shape";
    std::vector<std::uint32_t> dimensions;
    for (std::size_t i = 1; value.is_array() && i < value.size(); ++i) {
        const auto extent = as_unsigned(value[i]);
        if (!extent || *extent == 0)
            context.config.fail(key, "all but the first must be integers, at least 1");
        dimensions.push_back(*extent);
    }
    const auto shape = to_shape(dimensions);
    if (!shape) context.config.fail(key, "behind the batch, it must have 1 or 3 dimensions");
    if (!context.inputs.empty())
        context.config.fail("it is an input of the model; it must have no inputs itself");
    return context.append(std::make_unique<graph::Input>(*shape), {});
}

graph::NodeId build_flatten(LayerContext& context) {
    context.config.require_text("data_format", "channels_last");
    const auto elements = static_cast<std::uint32_t>(context.input_shape().elements());
    return context.append(std::make_unique<graph::Reshape>(graph::Shape{1, 1, elements}), {context.input()});
}

graph::NodeId build_reshape(LayerContext& context) {
    const json& value = context.config.any_of({"target_shape"});
    if (!value.is_array()) context.config.fail("target_shape", "it must be a list");
    std::uint64_t known = 1;
    std::vector<std::uint32_t> dimensions;
    std::optional<std::size_t> inferred;
    for (const json& entry : value) {
        if (entry == -1 && !inferred) {
            inferred = dimensions.size();
            dimensions.push_back(1);
            continue;
        }
        const auto extent = as_unsigned(entry);
        if (!extent || *extent == 0 || __builtin_mul_overflow(known, *extent, &known)) {
            context.config.fail("target_shape", "each must be an integer, at least 1, or -1 once");
        }
        dimensions.push_back(*extent);
    }
    const std::uint64_t elements = context.input_shape().elements();
    // Less than 2^32, as tensors are limited.
    if (inferred) dimensions[*inferred] = static_cast<std::uint32_t>(elements / known);
    const auto shape = to_shape(dimensions);
    if (!shape) context.config.fail("target_shape", "it must have 1 or 3 dimensions");
    return context.append(std::make_unique<graph::Reshape>(*shape), {context.input()});
}

graph::NodeId build_zero_padding(LayerContext& context) {
    context.config.require_text("data_format", "channels_last");
    const json& value = context.config.any_of({"padding"});
    const bool by_axis = value.is_array() && value.size() == 2;
    // In [a, b], a is above and below; in [[a, b], [c, d]], a is above.
    const auto vertical = both_sides(context.config, by_axis ? value[0] : value);
    const auto horizontal = both_sides(context.config, by_axis ? value[1] : value);
    auto padding = std::make_unique<graph::ZeroPadding>();
    padding->top = vertical[0];
    padding->bottom = vertical[1];
    padding->left = horizontal[0];
    padding->right = horizontal[1];
    return context.append(std::move(padding), {context.input()});
}

graph::NodeId build_concatenate(LayerContext& context) {
    const auto is_vector = [](const graph::Shape& shape) { return shape.height == 1 && shape.width == 1; };
    const std::vector<graph::Shape> shapes = context.input_shapes();
    context.config.require_last_axis("axis", std::ranges::all_of(shapes, is_vector));
    return context.append(std::make_unique<graph::Concat>(), context.inputs);
}

graph::NodeId build_add(LayerContext& context) {
    if (context.inputs.size() < 2) {
        context.config.fail(fmt::format("it has {} inputs; it must have at least 2", context.inputs.size()));
    }
    graph::NodeId sum = context.inputs[0];
    for (std::size_t i = 1; i < context.inputs.size(); ++i) {
        sum = context.append(std::make_unique<graph::Add>(), {sum, context.inputs[i]});
    }
    return sum;
}

}  // namespace systole::frontend

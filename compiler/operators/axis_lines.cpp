#include "compiler/operators/axis_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"

namespace systole::operators {

AxisLines lines_along(const ir::Shape& shape, std::size_t axis) {
    AxisLines lines;
    for (std::size_t i = 0; i < axis; ++i) lines.outer *= shape[i];
    lines.count = shape[axis];
    for (std::size_t i = axis + 1; i < shape.rank(); ++i) lines.inner *= shape[i];
    return lines;
}

ir::AttributeDeclaration axis_attribute() {
    return {.name = "axis",
            .meaning = "the axis; -1: the last one",
            .absent = std::int64_t{-1},
            .minimum = -1,
            .maximum = ir::Shape::most_extents - 1};
}

std::size_t axis_of_attribute(const ir::NodeView& node) {
    if (node.node().inputs.empty()) throw ModelError("it must have an input");
    const std::int64_t axis = node.node().integer("axis");
    const std::size_t rank = node.input().shape.rank();
    const std::size_t found = axis < 0 ? rank - 1 : static_cast<std::size_t>(axis);
    if (rank == 0 || found >= rank) {
        throw ModelError(fmt::format("its axis is {}; its input is {}", axis, to_text(node.input().shape)));
    }
    if (node.input().shape.elements() == 0) {
        throw ModelError(fmt::format("its input is {}; it must have elements", to_text(node.input().shape)));
    }
    return found;
}

std::int64_t moved_axis(std::span<const std::uint32_t> axes, std::size_t axis) {
    return std::ranges::find(axes, static_cast<std::uint32_t>(axis)) - axes.begin();
}

PermutedNode permuted_lists(const ir::NodeView& node, std::span<const std::uint32_t> axes,
                            std::initializer_list<const char*> lists) {
    ir::Node moved = node.node();
    for (const char* const list : lists) moved.set(list, moved_list(axes, moved.integers(list)));
    return {std::move(moved.attributes), {axes.begin(), axes.end()}};
}

PermutedNode permuted_lines(const ir::NodeView& node, std::span<const std::uint32_t> axes) {
    ir::Node moved = node.node();
    const std::int64_t axis = moved_axis(axes, axis_of_attribute(node));
    const bool is_last = axis + 1 == static_cast<std::int64_t>(axes.size());
    moved.set("axis", is_last ? std::int64_t{-1} : axis);
    return {std::move(moved.attributes), {axes.begin(), axes.end()}};
}

std::vector<std::uint32_t> remaining_axes(std::span<const std::uint32_t> axes,
                                          std::span<const std::size_t> removed) {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t axis : axes) {
        if (std::ranges::find(removed, axis) != removed.end()) continue;
        const auto before = std::ranges::count_if(removed, [&](std::size_t other) { return other < axis; });
        result.push_back(axis - static_cast<std::uint32_t>(before));
    }
    return result;
}

}  // namespace systole::operators

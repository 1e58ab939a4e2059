#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "compiler/operators/operator.h"

namespace systole::operators {

/// The lines of a tensor along an axis: outer x count x inner elements.
struct AxisLines {
    std::size_t outer = 1;
    std::size_t count = 1;
    std::size_t inner = 1;
};

/// The lines of a shape along an axis, which it must have.
AxisLines lines_along(const ir::Shape& shape, std::size_t axis);

/// The attribute `axis`, whose default -1 is the last axis.
ir::AttributeDeclaration axis_attribute();
/// The axis of a node's first input. Throws ModelError if it does not have it.
std::size_t axis_of_attribute(const ir::NodeView& node);

/// The place of an axis after a permutation (Operator::permuted).
std::int64_t moved_axis(std::span<const std::uint32_t> axes, std::size_t axis);
/// The numbers of a list by axis in the new order.
template <typename Number>
std::vector<Number> moved_list(std::span<const std::uint32_t> axes, const std::vector<Number>& list) {
    std::vector<Number> moved;
    for (const std::uint32_t axis : axes) moved.push_back(list.at(axis));
    return moved;
}
/// Operator::permuted for operators whose lists by axis have these names.
PermutedNode permuted_lists(const ir::NodeView& node, std::span<const std::uint32_t> axes,
                            std::initializer_list<const char*> lists);
/// The same for operators with the attribute `axis`.
PermutedNode permuted_lines(const ir::NodeView& node, std::span<const std::uint32_t> axes);
/// The axes of a result without the axes `removed` (Operator::permuted).
std::vector<std::uint32_t> remaining_axes(std::span<const std::uint32_t> axes,
                                          std::span<const std::size_t> removed);

/// Calls visit(offset of the first element) for each line.
template <typename Visit>
void for_each_line(const AxisLines& lines, const Visit& visit) {
    for (std::size_t i = 0; i < lines.outer; ++i) {
        for (std::size_t j = 0; j < lines.inner; ++j) visit(i * lines.count * lines.inner + j);
    }
}

}  // namespace systole::operators

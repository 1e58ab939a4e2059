#include "compiler/target/tensor_core/row_boxes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "base/arithmetic.h"
#include "hw/math/floats/float_values.h"

namespace systole::tensor_core {
namespace {

using Integers = std::vector<std::int64_t>;

std::uint64_t columns_of(const ir::Shape& shape) {
    return shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
}

/// Rows of the matrix from an index to the next, by axis; 0 for the last one.
std::vector<std::uint64_t> rows_apart(const ir::Shape& shape) {
    std::vector<std::uint64_t> apart(shape.rank());
    std::uint64_t rows = 1;
    for (std::size_t axis = shape.rank(); axis-- > 1; rows *= shape[axis - 1]) apart[axis - 1] = rows;
    return apart;
}

/// Some indices along each axis of a result, whose last axis has the columns.
struct Region {
    std::vector<std::uint64_t> first;
    std::vector<std::uint64_t> count;
};

Region whole(const ir::Shape& shape) {
    return {.first = std::vector<std::uint64_t>(shape.rank()),
            .count = {shape.extents().begin(), shape.extents().end()}};
}

/// The rows of a region, with an axis for each but the last.
RowBox box_of(const ir::Shape& result, const Region& region) {
    RowBox box;
    const std::vector<std::uint64_t> apart = rows_apart(result);
    for (std::size_t axis = 0; axis + 1 < result.rank(); ++axis) {
        box.row += region.first[axis] * apart[axis];
        box.extents.push_back(region.count[axis]);
        box.apart.push_back(apart[axis]);
    }
    return box;
}

/// All rows of a source in their order, for a box with an axis for each but the last.
BoxColumns rows_of(const ir::Shape& source, std::uint32_t number, std::uint64_t to) {
    BoxColumns columns{.to = to, .count = columns_of(source), .source = number};
    const std::vector<std::uint64_t> apart = rows_apart(source);
    for (std::size_t axis = 0; axis + 1 < source.rank(); ++axis)
        columns.apart.push_back(static_cast<std::int64_t>(apart[axis]));
    return columns;
}

/// Instructions for columns that move one by one, about, and for transpositions of a row or a column: the
/// fewer ones are taken.
bool should_transpose(std::uint64_t times, std::uint64_t numbers, std::uint64_t lanes) {
    return times * divide_up(numbers, lanes) < 2 * numbers;
}

Movement concatenated(const ir::NodeView& node) {
    const ir::Shape& result = node.output().shape;
    const std::int64_t stated = node.node().integer("axis");
    const std::size_t axis = stated < 0 ? result.rank() - 1 : static_cast<std::size_t>(stated);
    Movement movement;
    Region region = whole(result);
    const bool by_columns = axis + 1 == result.rank();
    if (by_columns) movement.boxes.push_back(box_of(result, region));
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        const ir::Shape& source = node.input(i).shape;
        const auto number = static_cast<std::uint32_t>(i);
        if (by_columns) {
            movement.boxes[0].columns.push_back(rows_of(source, number, first));
        } else {
            region.first[axis] = first;
            region.count[axis] = source[axis];
            movement.boxes.push_back(box_of(result, region));
            movement.boxes.back().columns.push_back(rows_of(source, number, 0));
        }
        first += source[axis];
    }
    return movement;
}

/// The word of a number that an attribute has.
std::uint32_t word_of(double number, DataType type) {
    if (type == DataType::Int32) return static_cast<std::uint32_t>(static_cast<std::int32_t>(number));
    const auto rounded = static_cast<float>(number);
    return std::bit_cast<std::uint32_t>(type == DataType::Bfloat16 ? math::rounded_to_bfloat16(rounded)
                                                                   : rounded);
}

Movement padded(const ir::NodeView& node) {
    const ir::Shape& source = node.input().shape;
    const ir::Shape& result = node.output().shape;
    const Integers& before = node.node().integers("before");
    const std::uint32_t word = word_of(node.node().real("value"), node.output().type);
    const auto filled = [&](std::uint64_t to, std::uint64_t count) {
        return BoxColumns{.to = to, .count = count, .from = word};
    };
    Movement movement;
    // Axis by axis, what is beside the source; the region that is left gets smaller.
    Region region = whole(result);
    const auto fill = [&](std::size_t axis, std::uint64_t first, std::uint64_t count) {
        if (count == 0) return;
        Region part = region;
        part.first[axis] = first;
        part.count[axis] = count;
        movement.boxes.push_back(box_of(result, part));
        movement.boxes.back().columns.push_back(filled(0, columns_of(result)));
    };
    for (std::size_t axis = 0; axis + 1 < result.rank(); ++axis) {
        const auto first = static_cast<std::uint64_t>(before[axis]);
        fill(axis, 0, first);
        fill(axis, first + source[axis], result[axis] - first - source[axis]);
        region.first[axis] = first;
        region.count[axis] = source[axis];
    }
    RowBox box = box_of(result, region);
    const auto first = static_cast<std::uint64_t>(before.back());
    const std::uint64_t end = first + columns_of(source);
    if (first > 0) box.columns.push_back(filled(0, first));
    box.columns.push_back(rows_of(source, 0, first));
    if (end < columns_of(result)) box.columns.push_back(filled(end, columns_of(result) - end));
    movement.boxes.push_back(std::move(box));
    return movement;
}

Movement sliced(const ir::NodeView& node) {
    const ir::Shape& source = node.input().shape;
    const ir::Shape& result = node.output().shape;
    const Integers& first = node.node().integers("first");
    const Integers& step = node.node().integers("step");
    RowBox box = box_of(result, whole(result));
    const std::vector<std::uint64_t> apart = rows_apart(source);
    BoxColumns columns{.to = 0, .count = columns_of(result), .source = 0};
    for (std::size_t axis = 0; axis + 1 < source.rank(); ++axis) {
        columns.row += static_cast<std::uint64_t>(first[axis]) * apart[axis];
        columns.apart.push_back(step[axis] * static_cast<std::int64_t>(apart[axis]));
    }
    const std::size_t last = source.rank() - 1;
    columns.from = static_cast<std::uint64_t>(first[last]);
    if (step[last] == 1 || columns.count == 1) {
        box.columns.push_back(std::move(columns));
    } else {
        const std::uint64_t count = std::exchange(columns.count, 1);
        for (std::uint64_t column = 0; column < count; ++column) {
            columns.to = column;
            columns.from =
                static_cast<std::uint64_t>(first[last] + step[last] * static_cast<std::int64_t>(column));
            box.columns.push_back(columns);
        }
    }
    return {.boxes = {std::move(box)}, .transposition = {}};
}

std::vector<std::size_t> permutation_of(const ir::Node& node) {
    std::vector<std::size_t> axes;
    for (const std::int64_t axis : node.integers("permutation"))
        axes.push_back(static_cast<std::size_t>(axis));
    return axes;
}

}  // namespace

Movement reshaped_rows(std::uint64_t from_columns, std::uint64_t to_columns, std::uint64_t elements,
                       std::uint64_t lanes) {
    const std::uint64_t rows = elements / to_columns;
    const std::uint64_t source_rows = elements / from_columns;
    if (from_columns == 1 && should_transpose(rows, to_columns, lanes)) {
        return {.boxes = {},
                .transposition = Transposition{.outer = {{.extent = rows, .from = to_columns, .to = 1}},
                                               .rows = to_columns}};
    }
    if (to_columns == 1 && should_transpose(source_rows, from_columns, lanes)) {
        return {
            .boxes = {},
            .transposition = Transposition{.outer = {{.extent = source_rows, .from = 1, .to = from_columns}},
                                           .columns = from_columns}};
    }
    // After so many elements, rows of both begin together again.
    const std::uint64_t period = std::lcm(from_columns, to_columns);
    Movement movement;
    for (std::uint64_t row = 0; row < period / to_columns; ++row) {
        RowBox& box = movement.boxes.emplace_back(
            RowBox{.row = row, .extents = {elements / period}, .apart = {period / to_columns}});
        for (std::uint64_t column = 0; column < to_columns;) {
            const std::uint64_t element = row * to_columns + column;
            const std::uint64_t from = element % from_columns;
            const std::uint64_t count = std::min(to_columns - column, from_columns - from);
            box.columns.push_back({.to = column,
                                   .count = count,
                                   .source = 0,
                                   .from = from,
                                   .row = element / from_columns,
                                   .apart = {static_cast<std::int64_t>(period / from_columns)}});
            column += count;
        }
    }
    return movement;
}

Movement permuted_axes(const ir::Shape& shape, const std::vector<std::size_t>& permutation,
                       std::uint64_t lanes) {
    std::vector<std::uint32_t> extents;
    extents.reserve(permutation.size());
    for (const std::size_t axis : permutation) extents.push_back(shape[axis]);
    const ir::Shape result{std::span<const std::uint32_t>(extents)};
    const std::vector<std::uint64_t> from = rows_apart(shape);
    const std::vector<std::uint64_t> to = rows_apart(result);
    const std::size_t last = shape.rank() - 1;
    const std::uint64_t rows = columns_of(result);
    const std::uint64_t columns = columns_of(shape);
    const bool keeps_columns = permutation[last] == last || (rows == 1 && columns == 1);
    Transposition moved{.rows = rows, .columns = columns};
    std::uint64_t times = 1;
    for (std::size_t axis = 0; axis <= last; ++axis) {
        const std::size_t source = permutation[axis];
        if (!keeps_columns && axis == last) moved.rows_apart = std::max<std::uint64_t>(from[source], 1);
        if (!keeps_columns && source == last) moved.columns_apart = std::max<std::uint64_t>(to[axis], 1);
        const bool is_column = source == last || axis == last;
        if (is_column || extents[axis] == 1) continue;
        moved.outer.push_back({.extent = extents[axis], .from = from[source], .to = to[axis]});
        times *= extents[axis];
    }
    const bool is_line = rows == 1 || columns == 1;  // of the source or of the result
    if (!keeps_columns && !(is_line && !should_transpose(times, std::max(rows, columns), lanes)))
        return {.boxes = {}, .transposition = std::move(moved)};
    // Rows move, and columns one by one where rows or columns are few.
    RowBox box;
    BoxColumns part{.to = 0, .count = keeps_columns ? columns : 1, .source = 0};
    for (const Transposition::Axis& axis : moved.outer) {
        box.extents.push_back(axis.extent);
        box.apart.push_back(axis.to);
        part.apart.push_back(static_cast<std::int64_t>(axis.from));
    }
    Movement movement;
    if (keeps_columns || columns == 1) {
        for (std::uint64_t row = 0; row < (keeps_columns ? 1 : rows); ++row) {
            part.to = row;
            part.row = row * moved.rows_apart;
            box.columns.push_back(part);
        }
        movement.boxes.push_back(std::move(box));
        return movement;
    }
    for (std::uint64_t column = 0; column < columns; ++column) {
        RowBox& each = movement.boxes.emplace_back(box);
        each.row = column * moved.columns_apart;
        part.from = column;
        each.columns.push_back(part);
    }
    return movement;
}

Movement repeated_axes(const ir::Shape& from, const ir::Shape& to) {
    RowBox box = box_of(to, whole(to));
    BoxColumns columns{.to = 0, .count = columns_of(to), .source = 0};
    columns.repeats = columns_of(from) == 1 && columns.count > 1;
    const std::vector<std::uint64_t> apart = rows_apart(from);
    columns.apart.resize(box.extents.size());
    for (std::size_t behind = 1; behind < from.rank() && behind < to.rank(); ++behind) {
        const std::size_t axis = from.rank() - 1 - behind;
        if (from[axis] > 1) columns.apart[to.rank() - 1 - behind] = static_cast<std::int64_t>(apart[axis]);
    }
    box.columns.push_back(std::move(columns));
    return {.boxes = {std::move(box)}, .transposition = {}};
}

std::optional<Movement> movement_of(const ir::NodeView& view, std::uint64_t lanes) {
    const ir::Node& node = view.node();
    const ir::Shape& source = view.input().shape;
    const ir::Shape& result = view.output().shape;
    if (node.is("reshape") || node.is("identity"))
        return reshaped_rows(columns_of(source), columns_of(result), result.elements(), lanes);
    if (node.is("expand")) return repeated_axes(source, result);
    if (source.rank() == 0) return std::nullopt;
    if (node.is("transpose")) return permuted_axes(source, permutation_of(node), lanes);
    if (node.is("strided_slice")) return sliced(view);
    if (node.is("pad") && node.text("mode") == "constant") return padded(view);
    if (node.is("concat")) {
        const auto has_rank = [&](ir::ValueId id) {
            return view.graph().values[id].shape.rank() == result.rank();
        };
        if (std::ranges::all_of(node.inputs, has_rank)) return concatenated(view);
    }
    return std::nullopt;
}

}  // namespace systole::tensor_core

#include "compiler/target/tensor_core/box_tiles.h"

#include <algorithm>
#include <utility>

#include "base/arithmetic.h"

namespace systole::tensor_core {

std::vector<BoxAxis> axes_of(const RowBox& box, std::uint64_t images, std::uint64_t image_rows) {
    std::vector<BoxAxis> axes{{.place = box.extents.size(), .extent = images, .apart = image_rows}};
    for (std::size_t i = 0; i < box.extents.size(); ++i) {
        const bool is_backward = std::ranges::any_of(box.columns, [&](const BoxColumns& part) {
            return part.source != Origin::none && part.apart[i] < 0;
        });
        axes.push_back(
            {.place = i, .extent = box.extents[i], .apart = box.apart[i], .is_backward = is_backward});
    }
    std::erase_if(axes, [](const BoxAxis& axis) { return axis.extent == 1; });
    std::ranges::stable_sort(axes, std::ranges::greater{},
                             [](const BoxAxis& axis) { return std::pair(axis.is_backward, axis.apart); });
    return axes;
}

std::uint64_t BoxTile::rows() const {
    std::uint64_t rows = 1;
    for (const std::uint64_t each : count) rows *= each;
    return rows;
}

bool advance(std::vector<std::uint64_t>& index, const std::vector<std::uint64_t>& extents,
             const std::vector<std::uint64_t>& step) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
        index[axis] += step[axis];
        if (index[axis] < extents[axis]) return true;
        index[axis] = 0;
    }
    return false;
}

std::vector<BoxTile> box_tiles(const std::vector<std::uint64_t>& extents, std::uint64_t most) {
    std::vector<std::uint64_t> step(extents.size(), 1);
    std::uint64_t rows = 1;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        const std::uint64_t parts = divide_up(extents[axis], most / rows);
        step[axis] = divide_up(extents[axis], parts);
        rows *= step[axis];
        if (parts > 1) break;
    }
    std::vector<BoxTile> tiles;
    std::vector<std::uint64_t> first(extents.size());
    do {
        BoxTile& tile = tiles.emplace_back(BoxTile{.first = first, .count = {}});
        for (std::size_t axis = 0; axis < extents.size(); ++axis)
            tile.count.push_back(std::min(step[axis], extents[axis] - first[axis]));
    } while (advance(first, extents, step));
    return tiles;
}

std::vector<TransferAxis> joined_axes(std::vector<TransferAxis> axes) {
    std::erase_if(axes, [](const TransferAxis& axis) { return axis.extent == 1; });
    for (bool joins = true; joins;) {
        joins = false;
        for (std::size_t outer = 0; outer < axes.size() && !joins; ++outer) {
            for (std::size_t inner = 0; inner < axes.size() && !joins; ++inner) {
                const auto extent = static_cast<std::int64_t>(axes[inner].extent);
                joins = inner != outer && axes[outer].hbm == axes[inner].hbm * extent &&
                        axes[outer].memory == axes[inner].memory * axes[inner].extent;
                if (!joins) continue;
                axes[inner].extent *= axes[outer].extent;
                axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(outer));
            }
        }
    }
    return axes;
}

TransferChoice choose_transfer(const std::vector<TransferAxis>& axes) {
    const std::size_t none = axes.size();
    TransferChoice best{.rows_axis = none, .blocks_axis = none};
    for (std::size_t rows_axis = 0; rows_axis <= none; ++rows_axis) {
        if (rows_axis < none && (axes[rows_axis].hbm != 1 || axes[rows_axis].memory != 1)) continue;
        const std::uint64_t rows = rows_axis < none ? axes[rows_axis].extent : 1;
        for (std::size_t blocks_axis = 0; blocks_axis <= none; ++blocks_axis) {
            std::uint64_t blocks = 1;
            if (blocks_axis < none) {
                const TransferAxis& axis = axes[blocks_axis];
                const bool fits = axis.hbm >= static_cast<std::int64_t>(rows) && axis.memory >= rows;
                if (blocks_axis == rows_axis || !fits) continue;
                blocks = axis.extent;
            }
            if (rows * blocks <= best.rows * best.blocks) continue;
            best = {.rows_axis = rows_axis, .blocks_axis = blocks_axis, .rows = rows, .blocks = blocks};
        }
    }
    return best;
}

bool is_direct(const BoxColumns& part, std::uint64_t lanes) {
    return !part.repeats && part.to % lanes == 0 && part.from % lanes == 0;
}

std::vector<ColumnGroup> column_groups(const RowBox& box, std::uint64_t lanes) {
    std::vector<ColumnGroup> groups;
    for (std::size_t i = 0; i < box.columns.size(); ++i) {
        const BoxColumns& part = box.columns[i];
        if (part.source == Origin::none) {
            groups.push_back({.first = i, .end = i + 1});
            continue;
        }
        const std::uint64_t begin = part.from / lanes;
        const std::uint64_t end = (part.from + (part.repeats ? 1 : part.count) - 1) / lanes + 1;
        const auto can_follow = [&](const BoxColumns& before) {
            return before.source == part.source && before.row == part.row && before.apart == part.apart &&
                   !before.repeats && !part.repeats && !is_direct(before, lanes) && !is_direct(part, lanes);
        };
        if (i > 0 && can_follow(box.columns[i - 1])) {
            ColumnGroup& group = groups.back();
            group.end = i + 1;
            group.first_panel = std::min(group.first_panel, begin);
            group.end_panel = std::max(group.end_panel, end);
        } else {
            groups.push_back({.first = i, .end = i + 1, .first_panel = begin, .end_panel = end});
        }
    }
    return groups;
}

RowBox cut_columns(const RowBox& box, std::uint64_t first, std::uint64_t count) {
    RowBox cut{.row = box.row, .extents = box.extents, .apart = box.apart, .columns = {}};
    for (BoxColumns part : box.columns) {
        const std::uint64_t begin = std::max(part.to, first);
        const std::uint64_t end = std::min(part.to + part.count, first + count);
        if (begin >= end) continue;
        if (part.source != Origin::none && !part.repeats) part.from += begin - part.to;
        part.to = begin - first;
        part.count = end - begin;
        cut.columns.push_back(std::move(part));
    }
    return cut;
}

}  // namespace systole::tensor_core

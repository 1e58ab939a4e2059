#include "compiler/frontend/hlo/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

void check_axes(std::string_view what, Axes axes, std::size_t rank) {
    std::uint64_t seen = 0;
    static_assert(most_dimensions <= 64);
    for (const std::int64_t axis : axes) {
        if (axis < 0 || static_cast<std::size_t>(axis) >= rank) {
            const std::string rule =
                rank == 0 ? "there is none" : fmt::format("it must be from 0 to {}", rank - 1);
            throw ModelError(fmt::format("{} is {}; {}", what, axis, rule));
        }
        const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(axis);
        if ((seen & bit) != 0)
            throw ModelError(fmt::format("{} is {} twice; each may be named once", what, axis));
        seen |= bit;
    }
}

std::int64_t only_axis(Axes axes) {
    if (axes.size() == 1) return axes.front();
    throw ModelError(fmt::format("it names {}; it must name 1", counted(axes.size(), "dimension")));
}

bool contains(Axes axes, std::size_t axis) {
    return std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
}

Numbers concatenated(Axes first, Axes second) {
    Numbers all(first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    return all;
}

std::int64_t extent_of(const Shape& array, std::int64_t axis) {
    return array.dimensions.at(static_cast<std::size_t>(axis));
}

Numbers extents_of(const Shape& array, Axes axes) {
    Numbers extents;
    for (const std::int64_t axis : axes) extents.push_back(extent_of(array, axis));
    return extents;
}

Numbers other_axes(std::size_t rank, Axes axes) {
    Numbers others;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (!contains(axes, axis)) others.push_back(static_cast<std::int64_t>(axis));
    }
    return others;
}

Numbers other_extents(Axes dimensions, Axes axes) {
    Numbers extents;
    for (const std::int64_t axis : other_axes(dimensions.size(), axes))
        extents.push_back(dimensions[static_cast<std::size_t>(axis)]);
    return extents;
}

}  // namespace systole::hlo

#include "hw/isa/interpolation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/isa/program_error.h"

namespace systole::isa {
namespace {

constexpr std::int64_t one = 1 << 10;

/// Lines or columns relative to patches, from the first to the last.
struct Reach {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
};

struct Side {
    std::uint64_t tiles = 0;
    std::uint64_t inputs = 0;
    std::uint64_t own_inputs = 0;
    std::uint64_t outputs = 0;
    std::uint64_t own_outputs = 0;
};

Reach reach_of(const Side& side, const Interpolation& rule, std::int64_t first, std::uint64_t count) {
    Reach reach;
    for (std::uint64_t tile = 0; tile < side.tiles; ++tile) {
        const auto patch = static_cast<std::int64_t>(tile * side.own_outputs);
        const auto own = static_cast<std::int64_t>(tile * side.own_inputs);
        const std::int64_t from = std::max<std::int64_t>(patch + first, 0);
        const std::int64_t to = std::min(patch + first + static_cast<std::int64_t>(count),
                                         static_cast<std::int64_t>(side.outputs)) -
                                1;
        if (to < from) continue;
        const auto place = [&](std::int64_t output) {
            return interpolated_place(rule, side.inputs, side.outputs, static_cast<std::uint64_t>(output));
        };
        reach.first = std::min(reach.first, place(from).lower - own);
        reach.last = std::max(reach.last, place(to).upper - own);
    }
    return reach;
}

Reach lines_of(const TileLayout& source, const TileLayout& result, const TileArea& area,
               const Interpolation& rule) {
    return reach_of({result.grid.lines, source.lines, source.own_lines(), result.lines, result.own_lines()},
                    rule, area.first_line, area.lines);
}

Reach columns_of(const TileLayout& source, const TileLayout& result, const TileArea& area,
                 const Interpolation& rule) {
    return reach_of(
        {result.grid.columns, source.columns, source.own_columns(), result.columns, result.own_columns()},
        rule, area.first_column, area.columns);
}

}  // namespace

Interpolation interpolation_of(const TileVector& vector) {
    return {.in_float = vector.scaling == Scaling::Float,
            .half_pixel = vector.half_pixel,
            .align_corners = vector.align_corners};
}

InterpolatedPlace interpolated_place(const Interpolation& rule, std::uint64_t inputs, std::uint64_t outputs,
                                     std::uint64_t output) {
    const auto last = static_cast<std::int64_t>(inputs) - 1;
    // Distances between pixels, or numbers of them.
    const bool between = rule.align_corners && outputs > 1;
    const std::uint64_t from = between ? inputs - 1 : inputs;
    const std::uint64_t to = between ? outputs - 1 : outputs;
    if (rule.in_float) {
        const float step = static_cast<float>(from) / static_cast<float>(to);
        const auto number = static_cast<float>(output);
        // Each operation rounds to float32. The float64 between keeps a compiler from fusing two of them.
        const float shifted = rule.half_pixel ? number + 0.5F : number;
        const auto centre = static_cast<float>(double{shifted} * double{step});
        const float place = rule.half_pixel ? centre - 0.5F : centre;
        const auto lower = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(place)), 0, last);
        const auto upper = std::min(static_cast<std::int64_t>(std::ceil(place)), last);
        return {.lower = lower, .upper = upper, .float_share = place - static_cast<float>(lower)};
    }
    const auto step = static_cast<std::int64_t>((one * from + to / 2) / to);
    const std::int64_t start = rule.half_pixel ? step / 2 - one / 2 : 0;
    const std::int64_t place = static_cast<std::int64_t>(output) * step + start;
    const std::int64_t lower = std::clamp<std::int64_t>(place / one, 0, last);
    const std::int64_t upper = std::min((place + one - 1) / one, last);
    return {.lower = lower, .upper = upper, .share = place - one * lower};
}

TileArea corners_under(const TileLayout& source, const TileLayout& result, const TileArea& area,
                       const Interpolation& rule) {
    const Reach lines = lines_of(source, result, area, rule);
    const Reach columns = columns_of(source, result, area, rule);
    if (lines.last < lines.first || columns.last < columns.first) return {};
    return {.first_line = lines.first,
            .lines = static_cast<std::uint64_t>(lines.last - lines.first + 1),
            .first_column = columns.first,
            .columns = static_cast<std::uint64_t>(columns.last - columns.first + 1)};
}

void check_corners_are_stored(const TileLayout& source, const TileLayout& result, const TileArea& area,
                              const Interpolation& rule) {
    const TileArea needed = corners_under(source, result, area, rule);
    const TileArea stored = stored_area(source);
    if (needed.pixels() == 0) return;
    if (needed.first_line >= stored.first_line && needed.first_column >= stored.first_column &&
        needed.line(needed.lines) <= stored.line(stored.lines) &&
        needed.column(needed.columns) <= stored.column(stored.columns)) {
        return;
    }
    throw ProgramError(
        "its tiles do not store all pixels that results come from; the source needs wider margins");
}

}  // namespace systole::isa

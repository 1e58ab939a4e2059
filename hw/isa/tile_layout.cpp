#include "hw/isa/tile_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {
namespace {

constexpr std::uint64_t largest_extent = 65535;
constexpr std::uint64_t most_channels = (std::uint64_t{1} << 24) - 1;

std::uint64_t from_to(const Registers& registers, Register reg, std::uint64_t least, std::uint64_t most) {
    const std::uint64_t value = registers[reg];
    if (value >= least && value <= most) return value;
    throw ProgramError(fmt::format("{} is {}; it must be from {} to {}", name(reg), value, least, most));
}

RowRange narrow_range(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t last = saturating_sum(address, bytes);
    if (last > narrow_address_limit) {
        throw ProgramError(fmt::format("{} bytes of narrow memory from {} on; addresses end at byte {}",
                                       bytes, address, narrow_address_limit - 1));
    }
    return {.first = address, .last = last};
}

/// One of the two directions of windows.
struct Direction {
    const char* name = "";
    std::uint64_t tiles = 0;
    std::int64_t outputs = 0;
    std::int64_t own_outputs = 0;
    std::int64_t own_inputs = 0;
    std::int64_t before = 0;  ///< pixels of the source's margin
    std::int64_t stored = 0;  ///< of the source
    std::int64_t reach = 0;   ///< from the first to the last pixel of a window
    std::int64_t stride = 0;
    std::int64_t pad = 0;

    /// Where the window of an output begins in the source, both relative to the tile's patches.
    std::int64_t begin(std::uint64_t tile, std::int64_t output) const {
        const auto at = static_cast<std::int64_t>(tile);
        return (at * own_outputs + output) * stride - pad - at * own_inputs;
    }
};

std::int64_t number(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

Direction vertical(const TileLayout& source, const TileLayout& result, const TileWindow& window) {
    return {.name = "lines",
            .tiles = result.grid.lines,
            .outputs = number(result.lines),
            .own_outputs = number(result.own_lines()),
            .own_inputs = number(source.own_lines()),
            .before = source.top,
            .stored = number(source.stored_lines()),
            .reach = number((window.kernel_height - 1) * window.dilation_y),
            .stride = number(window.stride_y),
            .pad = number(window.pad_top)};
}

Direction horizontal(const TileLayout& source, const TileLayout& result, const TileWindow& window) {
    return {.name = "columns",
            .tiles = result.grid.columns,
            .outputs = number(result.columns),
            .own_outputs = number(result.own_columns()),
            .own_inputs = number(source.own_columns()),
            .before = source.left,
            .stored = number(source.stored_columns()),
            .reach = number((window.kernel_width - 1) * window.dilation_x),
            .stride = number(window.stride_x),
            .pad = number(window.pad_left)};
}

/// Calls visit(tile, from, to) with the first pixel and the last under the windows of each tile's outputs,
/// all relative to its patches; not for tiles without outputs in the image.
template <class Visit>
void for_each_reach(const Direction& direction, std::int64_t first, std::uint64_t count, const Visit& visit) {
    for (std::uint64_t tile = 0; tile < direction.tiles; ++tile) {
        const std::int64_t patch = number(tile) * direction.own_outputs;
        const std::int64_t least = std::max(first, -patch);
        const std::int64_t most = std::min(first + number(count), direction.outputs - patch) - 1;
        if (most < least) continue;
        visit(tile, direction.begin(tile, least), direction.begin(tile, most) + direction.reach);
    }
}

void check(const Direction& direction, std::int64_t first, std::uint64_t count) {
    for_each_reach(direction, first, count, [&](std::uint64_t tile, std::int64_t least, std::int64_t most) {
        const std::int64_t from = least + direction.before;
        const std::int64_t to = most + direction.before;
        if (from >= 0 && to < direction.stored) return;
        throw ProgramError(fmt::format(
            "in tile {} of the {}, its windows reach from {} to {} of {} that are stored; the source "
            "needs wider margins",
            tile, direction.name, from, to, direction.stored));
    });
}

struct Extent {
    std::int64_t first = 0;
    std::uint64_t count = 0;
};

Extent under(const Direction& direction, std::int64_t first, std::uint64_t count) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    for_each_reach(direction, first, count, [&](std::uint64_t /*tile*/, std::int64_t from, std::int64_t to) {
        least = std::min(least, from);
        most = std::max(most, to);
    });
    if (most < least) return {};
    return {.first = least, .count = static_cast<std::uint64_t>(most - least + 1)};
}

/// Lines or columns of a patch that are kept.
Extent kept(std::uint64_t own, std::int64_t before, std::int64_t behind) {
    const std::int64_t first = std::max<std::int64_t>(0, -before);
    const std::int64_t last = std::min(number(own), number(own) + behind);
    return {.first = first, .count = last > first ? static_cast<std::uint64_t>(last - first) : 0};
}

/// Those of an area that lie in the image.
std::uint64_t in_image(std::int64_t first, std::uint64_t count, std::uint64_t own, std::uint64_t tile,
                       std::uint64_t extent) {
    const std::int64_t patch = number(tile * own);
    const std::int64_t from = std::max<std::int64_t>(patch + first, 0);
    const std::int64_t to = std::min(patch + first + number(count), number(extent));
    return to > from ? static_cast<std::uint64_t>(to - from) : 0;
}

std::int64_t margin(const Registers& registers, Register reg) {
    const std::int64_t value = registers.as_signed(reg);
    if (value >= -number(largest_extent) && value <= number(largest_extent)) return value;
    throw ProgramError(
        fmt::format("{} is {}; it must be from -{} to {}", name(reg), value, largest_extent, largest_extent));
}

}  // namespace

TileArea own_area(const TileLayout& layout) {
    const Extent lines = kept(layout.own_lines(), layout.top, layout.bottom);
    const Extent columns = kept(layout.own_columns(), layout.left, layout.right);
    return {.first_line = lines.first,
            .lines = lines.count,
            .first_column = columns.first,
            .columns = columns.count};
}

TileArea stored_area(const TileLayout& layout) {
    return {.first_line = -layout.top,
            .lines = layout.stored_lines(),
            .first_column = -layout.left,
            .columns = layout.stored_columns()};
}

std::uint64_t pixels_in_image(const TileLayout& layout, const TileArea& area, std::uint64_t tile) {
    return in_image(area.first_line, area.lines, layout.own_lines(), tile / layout.grid.columns,
                    layout.lines) *
           in_image(area.first_column, area.columns, layout.own_columns(), tile % layout.grid.columns,
                    layout.columns);
}

std::uint64_t pixels_in_image(const TileLayout& layout, const TileArea& area) {
    std::uint64_t pixels = 0;
    for (std::uint64_t tile = 0; tile < layout.grid.tiles(); ++tile) {
        pixels += pixels_in_image(layout, area, tile);
    }
    return pixels;
}

TileLayout tile_layout(const Registers& registers, const LayoutRegisters& names, const TileGrid& grid,
                       std::uint64_t address) {
    TileLayout layout{.grid = grid,
                      .address = address,
                      .lines = from_to(registers, names.lines, 1, largest_extent),
                      .columns = from_to(registers, names.columns, 1, largest_extent),
                      .channels = from_to(registers, names.channels, 1, most_channels),
                      .pixel_bytes = registers[names.pixel_bytes],
                      .top = margin(registers, names.top),
                      .bottom = margin(registers, names.bottom),
                      .left = margin(registers, names.left),
                      .right = margin(registers, names.right)};
    const TileArea own = own_area(layout);
    if (own.lines == 0 || own.columns == 0) {
        throw ProgramError(fmt::format("{}, {}, {} and {} leave nothing of the patches of {} x {} pixels",
                                       name(names.top), name(names.bottom), name(names.left),
                                       name(names.right), layout.own_lines(), layout.own_columns()));
    }
    if (layout.pixel_bytes == 0) layout.pixel_bytes = layout.channels;
    if (layout.pixel_bytes < layout.channels) {
        throw ProgramError(fmt::format("{} is {}; a pixel has {} channels", name(names.pixel_bytes),
                                       layout.pixel_bytes, layout.channels));
    }
    narrow_range(address, layout.bytes());
    return layout;
}

RowRange packed_range(std::uint64_t host_address, std::uint64_t elements) {
    return {.first = host_address, .last = saturating_sum(host_address, elements)};
}

RowRange vector_range(std::uint64_t address, std::uint64_t elements) {
    return narrow_range(address, elements);
}

LaneVector lane_vector(const Registers& registers, const TileGrid& grid, std::uint64_t address) {
    return {.grid = grid,
            .address = address,
            .elements = from_to(registers, Register::SourceChannels, 1, most_channels)};
}

RowRange range_of(const LaneVector& vector) {
    return narrow_range(vector.address, vector.passes() * vector.grid.lanes);
}

std::uint64_t window_extent(const Registers& registers, Register reg) {
    return from_to(registers, reg, 1, largest_extent);
}

TileWindow tile_window(const Registers& registers) {
    return {.kernel_height = window_extent(registers, Register::WindowKernelHeight),
            .kernel_width = window_extent(registers, Register::WindowKernelWidth),
            .stride_y = window_extent(registers, Register::WindowStrideY),
            .stride_x = window_extent(registers, Register::WindowStrideX),
            .dilation_y = window_extent(registers, Register::WindowDilationY),
            .dilation_x = window_extent(registers, Register::WindowDilationX),
            .pad_top = from_to(registers, Register::WindowPadTop, 0, largest_extent),
            .pad_left = from_to(registers, Register::WindowPadLeft, 0, largest_extent)};
}

void check_windows_are_stored(const TileLayout& source, const TileLayout& result, const TileArea& area,
                              const TileWindow& window) {
    check(vertical(source, result, window), area.first_line, area.lines);
    check(horizontal(source, result, window), area.first_column, area.columns);
}

TileArea windows_under(const TileLayout& source, const TileLayout& result, const TileArea& area,
                       const TileWindow& window) {
    const Extent lines = under(vertical(source, result, window), area.first_line, area.lines);
    const Extent columns = under(horizontal(source, result, window), area.first_column, area.columns);
    return {.first_line = lines.first,
            .lines = lines.count,
            .first_column = columns.first,
            .columns = columns.count};
}

std::int64_t window_line(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                         std::uint64_t tile_line, std::int64_t line) {
    return vertical(source, result, window).begin(tile_line, line);
}

std::int64_t window_column(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                           std::uint64_t tile_column, std::int64_t column) {
    return horizontal(source, result, window).begin(tile_column, column);
}

void check_whole(const TileLayout& layout) {
    if (std::min({layout.top, layout.bottom, layout.left, layout.right}) >= 0) return;
    throw ProgramError("a margin is negative; this instruction needs whole patches");
}

}  // namespace systole::isa

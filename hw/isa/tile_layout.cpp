#include "hw/isa/tile_layout.h"

#include <fmt/format.h>

#include <algorithm>

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

OwnRange own_part(std::uint64_t extent, std::uint64_t own, std::uint64_t tile) {
    return {.first = std::min(tile * own, extent), .last = std::min((tile + 1) * own, extent)};
}

/// One of the two directions of windows.
struct Direction {
    const char* name = "";
    std::uint64_t tiles = 0;
    std::uint64_t outputs = 0;
    std::uint64_t own_outputs = 0;
    std::uint64_t own_inputs = 0;
    std::uint64_t before = 0;  ///< pixels of the margin
    std::uint64_t stored = 0;
    std::uint64_t kernel = 0;
    std::uint64_t stride = 0;
    std::uint64_t dilation = 0;
    std::uint64_t pad = 0;

    /// Where the window of an output begins in what its tile stores; negative: before it.
    std::int64_t begin(std::uint64_t output) const {
        const std::uint64_t tile = output / own_outputs;
        return static_cast<std::int64_t>(output * stride + before) - static_cast<std::int64_t>(pad) -
               static_cast<std::int64_t>(tile * own_inputs);
    }
    std::uint64_t reach() const { return (kernel - 1) * dilation; }
};

Direction vertical(const TileLayout& source, const TileLayout& result, const TileWindow& window) {
    return {.name = "lines",
            .tiles = result.grid.lines,
            .outputs = result.lines,
            .own_outputs = result.own_lines(),
            .own_inputs = source.own_lines(),
            .before = source.top,
            .stored = source.stored_lines(),
            .kernel = window.kernel_height,
            .stride = window.stride_y,
            .dilation = window.dilation_y,
            .pad = window.pad_top};
}

Direction horizontal(const TileLayout& source, const TileLayout& result, const TileWindow& window) {
    return {.name = "columns",
            .tiles = result.grid.columns,
            .outputs = result.columns,
            .own_outputs = result.own_columns(),
            .own_inputs = source.own_columns(),
            .before = source.left,
            .stored = source.stored_columns(),
            .kernel = window.kernel_width,
            .stride = window.stride_x,
            .dilation = window.dilation_x,
            .pad = window.pad_left};
}

void check(const Direction& direction) {
    for (std::uint64_t tile = 0; tile < direction.tiles; ++tile) {
        const OwnRange own = own_part(direction.outputs, direction.own_outputs, tile);
        if (own.count() == 0) return;
        const std::int64_t first = direction.begin(own.first);
        const std::int64_t last =
            direction.begin(own.last - 1) + static_cast<std::int64_t>(direction.reach());
        if (first >= 0 && last < static_cast<std::int64_t>(direction.stored)) continue;
        throw ProgramError(fmt::format(
            "in tile {} of the {}, its windows reach from {} to {} of {} that are stored; the source "
            "needs wider margins",
            tile, direction.name, first, last, direction.stored));
    }
}

}  // namespace

OwnRange own_lines(const TileLayout& layout, std::uint64_t tile_line) {
    return own_part(layout.lines, layout.own_lines(), tile_line);
}

OwnRange own_columns(const TileLayout& layout, std::uint64_t tile_column) {
    return own_part(layout.columns, layout.own_columns(), tile_column);
}

std::uint64_t own_pixels(const TileLayout& layout, std::uint64_t tile) {
    return own_lines(layout, tile / layout.grid.columns).count() *
           own_columns(layout, tile % layout.grid.columns).count();
}

TileLayout tile_layout(const Registers& registers, const LayoutRegisters& names, const TileGrid& grid,
                       std::uint64_t address) {
    TileLayout layout{.grid = grid,
                      .address = address,
                      .lines = from_to(registers, names.lines, 1, largest_extent),
                      .columns = from_to(registers, names.columns, 1, largest_extent),
                      .channels = from_to(registers, names.channels, 1, most_channels),
                      .pixel_bytes = registers[names.pixel_bytes],
                      .top = from_to(registers, names.top, 0, largest_extent),
                      .bottom = from_to(registers, names.bottom, 0, largest_extent),
                      .left = from_to(registers, names.left, 0, largest_extent),
                      .right = from_to(registers, names.right, 0, largest_extent)};
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

TileWindow tile_window(const Registers& registers) {
    return {.kernel_height = from_to(registers, Register::WindowKernelHeight, 1, largest_extent),
            .kernel_width = from_to(registers, Register::WindowKernelWidth, 1, largest_extent),
            .stride_y = from_to(registers, Register::WindowStrideY, 1, largest_extent),
            .stride_x = from_to(registers, Register::WindowStrideX, 1, largest_extent),
            .dilation_y = from_to(registers, Register::WindowDilationY, 1, largest_extent),
            .dilation_x = from_to(registers, Register::WindowDilationX, 1, largest_extent),
            .pad_top = from_to(registers, Register::WindowPadTop, 0, largest_extent),
            .pad_left = from_to(registers, Register::WindowPadLeft, 0, largest_extent)};
}

void check_windows_are_stored(const TileLayout& source, const TileLayout& result, const TileWindow& window) {
    check(vertical(source, result, window));
    check(horizontal(source, result, window));
}

std::uint64_t stored_line(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                          std::uint64_t line, std::uint64_t kernel_line) {
    return static_cast<std::uint64_t>(vertical(source, result, window).begin(line)) +
           kernel_line * window.dilation_y;
}

std::uint64_t stored_column(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                            std::uint64_t column, std::uint64_t kernel_column) {
    return static_cast<std::uint64_t>(horizontal(source, result, window).begin(column)) +
           kernel_column * window.dilation_x;
}

}  // namespace systole::isa

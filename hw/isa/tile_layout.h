#pragma once

#include <cstdint>

#include "hw/isa/registers.h"
#include "hw/isa/row_range.h"
#include "hw/isa/tile_grid.h"

// How tensors lie in the narrow memories of the tiles (docs/isa.md, "Tensors over tiles").
namespace systole::isa {

/// The registers that describe a tensor.
struct LayoutRegisters {
    Register lines;
    Register columns;
    Register channels;
    Register pixel_bytes;
    Register top;
    Register bottom;
    Register left;
    Register right;
};

inline constexpr LayoutRegisters source_registers{
    Register::SourceLines, Register::SourceColumns, Register::SourceChannels, Register::SourcePixelBytes,
    Register::SourceTop,   Register::SourceBottom,  Register::SourceLeft,     Register::SourceRight};
/// The second operand has the image of the result.
inline constexpr LayoutRegisters other_registers{
    Register::ResultLines, Register::ResultColumns, Register::ResultChannels, Register::OtherPixelBytes,
    Register::OtherTop,    Register::OtherBottom,   Register::OtherLeft,      Register::OtherRight};
inline constexpr LayoutRegisters result_registers{
    Register::ResultLines, Register::ResultColumns, Register::ResultChannels, Register::ResultPixelBytes,
    Register::ResultTop,   Register::ResultBottom,  Register::ResultLeft,     Register::ResultRight};

/// An image of 8-bit elements, spread over the tiles. A tile owns a patch of ceil(lines / tile lines) x
/// ceil(columns / tile columns) pixels, the tile of line i and column j that of line i and column j of
/// patches; at the image's lower and right border patches are cut off. Around the patch a tile keeps margins:
/// pixels that its neighbours own, or that lie outside the image. Patch and margins lie in narrow memory line
/// by line, at the same address in every tile. A negative margin leaves out pixels of the patch: then the
/// tiles keep a strip of it.
struct TileLayout {
    TileGrid grid;
    std::uint64_t address = 0;  ///< of the first channel of the upper left pixel of the margins
    std::uint64_t lines = 0;    ///< of the image
    std::uint64_t columns = 0;  ///< of the image
    std::uint64_t channels = 0;
    std::uint64_t pixel_bytes = 0;  ///< from a pixel to the next; at least the channels
    // Pixels of the margins.
    std::int64_t top = 0;
    std::int64_t bottom = 0;
    std::int64_t left = 0;
    std::int64_t right = 0;

    std::uint64_t own_lines() const { return (lines + grid.lines - 1) / grid.lines; }
    std::uint64_t own_columns() const { return (columns + grid.columns - 1) / grid.columns; }
    std::uint64_t stored_lines() const {
        return static_cast<std::uint64_t>(top + static_cast<std::int64_t>(own_lines()) + bottom);
    }
    std::uint64_t stored_columns() const {
        return static_cast<std::uint64_t>(left + static_cast<std::int64_t>(own_columns()) + right);
    }
    std::uint64_t line_bytes() const { return stored_columns() * pixel_bytes; }
    /// From the first channel of the first stored pixel to the last channel of the last one.
    std::uint64_t bytes() const { return (stored_lines() * stored_columns() - 1) * pixel_bytes + channels; }
    /// The address of a stored pixel, counted from the margins' upper left.
    std::uint64_t at(std::uint64_t stored_line, std::uint64_t stored_column) const {
        return address + stored_line * line_bytes() + stored_column * pixel_bytes;
    }
    RowRange range() const { return {.first = address, .last = address + bytes()}; }
    std::uint64_t elements() const { return lines * columns * channels; }

    bool operator==(const TileLayout&) const = default;
};

/// Pixels of which every tile has some: lines and columns relative to the upper left one of its patch. Those
/// that lie outside the image are not there.
struct TileArea {
    std::int64_t first_line = 0;
    std::uint64_t lines = 0;
    std::int64_t first_column = 0;
    std::uint64_t columns = 0;

    /// Of the fullest tile.
    std::uint64_t pixels() const { return lines * columns; }
    std::int64_t line(std::uint64_t index) const { return first_line + static_cast<std::int64_t>(index); }
    std::int64_t column(std::uint64_t index) const { return first_column + static_cast<std::int64_t>(index); }
};
/// What tiles keep of their patches.
TileArea own_area(const TileLayout& layout);
/// All that tiles keep, margins included.
TileArea stored_area(const TileLayout& layout);
/// Pixels of an area that lie in the image, of a tile and of all tiles.
std::uint64_t pixels_in_image(const TileLayout& layout, const TileArea& area, std::uint64_t tile);
std::uint64_t pixels_in_image(const TileLayout& layout, const TileArea& area);

/// Where a tile keeps a pixel, by its place relative to the patch.
inline std::uint64_t address_of(const TileLayout& layout, std::int64_t line, std::int64_t column) {
    return layout.at(static_cast<std::uint64_t>(line + layout.top),
                     static_cast<std::uint64_t>(column + layout.left));
}

/// A place in an image, perhaps outside of it.
struct ImagePixel {
    std::int64_t line = 0;
    std::int64_t column = 0;

    bool is_in(const TileLayout& layout) const {
        return line >= 0 && column >= 0 && line < static_cast<std::int64_t>(layout.lines) &&
               column < static_cast<std::int64_t>(layout.columns);
    }
};
/// The pixel of the image at a place relative to a tile's patch.
inline ImagePixel image_pixel(const TileLayout& layout, std::uint64_t tile, std::int64_t line,
                              std::int64_t column) {
    return {.line = static_cast<std::int64_t>(tile / layout.grid.columns * layout.own_lines()) + line,
            .column = static_cast<std::int64_t>(tile % layout.grid.columns * layout.own_columns()) + column};
}

/// Calls visit(tile, address) for each pixel of the image, line by line, with the place where its owner has
/// its first channel.
template <class Visit>
void for_each_pixel(const TileLayout& layout, const Visit& visit) {
    const std::uint64_t own_height = layout.own_lines();
    const std::uint64_t own_width = layout.own_columns();
    for (std::uint64_t line = 0; line < layout.lines; ++line) {
        for (std::uint64_t column = 0; column < layout.columns; ++column) {
            visit(line / own_height * layout.grid.columns + column / own_width,
                  address_of(layout, static_cast<std::int64_t>(line % own_height),
                             static_cast<std::int64_t>(column % own_width)));
        }
    }
}

/// The layout that registers describe. Throws ProgramError if one of the numbers is 0 that must not be, or
/// out of range, or the tensor ends above the addresses of narrow memory.
TileLayout tile_layout(const Registers& registers, const LayoutRegisters& names, const TileGrid& grid,
                       std::uint64_t address);

/// Throws ProgramError if tiles do not keep their whole patches.
void check_whole(const TileLayout& layout);

/// Elements in host memory, one after the other.
RowRange packed_range(std::uint64_t host_address, std::uint64_t elements);
/// A vector in narrow memory: of all elements, one after the other, in every tile.
RowRange vector_range(std::uint64_t address, std::uint64_t elements);

/// A vector over the tiles: tile t holds elements [lanes * t, lanes * (t + 1)), then, behind these, those
/// that come tiles() * lanes later, and so on.
struct LaneVector {
    TileGrid grid;
    std::uint64_t address = 0;
    std::uint64_t elements = 0;

    std::uint64_t groups() const { return (elements + grid.lanes - 1) / grid.lanes; }
    std::uint64_t passes() const { return (groups() + grid.tiles() - 1) / grid.tiles(); }
    /// Where element `index` lies.
    std::uint64_t tile_of(std::uint64_t index) const { return index / grid.lanes % grid.tiles(); }
    std::uint64_t address_of(std::uint64_t index) const {
        return address + index / (std::uint64_t{grid.lanes} * grid.tiles()) * grid.lanes + index % grid.lanes;
    }
};
/// The vector of source.channels elements. Throws ProgramError if there are none.
LaneVector lane_vector(const Registers& registers, const TileGrid& grid, std::uint64_t address);
/// Its range in every tile. Throws ProgramError if it ends above the addresses of narrow memory.
RowRange range_of(const LaneVector& vector);

/// The windows of the source image under the pixels of the result, from the window.* registers.
struct TileWindow {
    std::uint64_t kernel_height = 1;
    std::uint64_t kernel_width = 1;
    std::uint64_t stride_y = 1;
    std::uint64_t stride_x = 1;
    std::uint64_t dilation_y = 1;
    std::uint64_t dilation_x = 1;
    std::uint64_t pad_top = 0;
    std::uint64_t pad_left = 0;

    std::uint64_t taps() const { return kernel_height * kernel_width; }
};
/// A size in a window.* register. Throws ProgramError if it is 0 or above 65535.
std::uint64_t window_extent(const Registers& registers, Register reg);
/// Throws ProgramError if a size is 0 or above 65535.
TileWindow tile_window(const Registers& registers);

/// Throws ProgramError unless every window of an area's pixels in the result's image lies in what their tiles
/// store of the source.
void check_windows_are_stored(const TileLayout& source, const TileLayout& result, const TileArea& area,
                              const TileWindow& window);

/// The area of the source under the windows of an area's pixels in the result's image, over all tiles.
/// Without pixels if there are none.
TileArea windows_under(const TileLayout& source, const TileLayout& result, const TileArea& area,
                       const TileWindow& window);

/// The line of the source, relative to the patch of a line of tiles, at which the windows of a line of the
/// result begin, which is relative to the patch, too; and the same for columns.
std::int64_t window_line(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                         std::uint64_t tile_line, std::int64_t line);
std::int64_t window_column(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                           std::uint64_t tile_column, std::int64_t column);

}  // namespace systole::isa

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
/// by line, at the same address in every tile.
struct TileLayout {
    TileGrid grid;
    std::uint64_t address = 0;  ///< of the first channel of the upper left pixel of the margins
    std::uint64_t lines = 0;    ///< of the image
    std::uint64_t columns = 0;  ///< of the image
    std::uint64_t channels = 0;
    std::uint64_t pixel_bytes = 0;  ///< from a pixel to the next; at least the channels
    // Pixels of the margins.
    std::uint64_t top = 0;
    std::uint64_t bottom = 0;
    std::uint64_t left = 0;
    std::uint64_t right = 0;

    std::uint64_t own_lines() const { return (lines + grid.lines - 1) / grid.lines; }
    std::uint64_t own_columns() const { return (columns + grid.columns - 1) / grid.columns; }
    /// Pixels of the fullest tile, which is the first.
    std::uint64_t own_pixels() const { return own_lines() * own_columns(); }
    std::uint64_t stored_lines() const { return top + own_lines() + bottom; }
    std::uint64_t stored_columns() const { return left + own_columns() + right; }
    std::uint64_t line_bytes() const { return stored_columns() * pixel_bytes; }
    /// From the first channel of the first stored pixel to the last channel of the last one.
    std::uint64_t bytes() const { return (stored_lines() * stored_columns() - 1) * pixel_bytes + channels; }
    /// The address of a stored pixel, counted from the margins' upper left.
    std::uint64_t at(std::uint64_t stored_line, std::uint64_t stored_column) const {
        return address + stored_line * line_bytes() + stored_column * pixel_bytes;
    }
    RowRange range() const { return {.first = address, .last = address + bytes()}; }
    std::uint64_t elements() const { return lines * columns * channels; }
};

/// The lines [first, last) of an image that the tiles of a line own, or its columns by a column of tiles.
struct OwnRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    std::uint64_t count() const { return last > first ? last - first : 0; }
};
OwnRange own_lines(const TileLayout& layout, std::uint64_t tile_line);
OwnRange own_columns(const TileLayout& layout, std::uint64_t tile_column);
/// Pixels of the image that a tile owns; tiles are numbered line by line.
std::uint64_t own_pixels(const TileLayout& layout, std::uint64_t tile);

/// Calls visit(tile, address) for each pixel of the image, line by line, with the place where its owner has
/// its first channel.
template <class Visit>
void for_each_pixel(const TileLayout& layout, const Visit& visit) {
    const std::uint64_t own_height = layout.own_lines();
    const std::uint64_t own_width = layout.own_columns();
    for (std::uint64_t line = 0; line < layout.lines; ++line) {
        for (std::uint64_t column = 0; column < layout.columns; ++column) {
            visit(line / own_height * layout.grid.columns + column / own_width,
                  layout.at(layout.top + line % own_height, layout.left + column % own_width));
        }
    }
}

/// The layout that registers describe. Throws ProgramError if one of the numbers is 0 that must not be, or
/// out of range, or the tensor ends above the addresses of narrow memory.
TileLayout tile_layout(const Registers& registers, const LayoutRegisters& names, const TileGrid& grid,
                       std::uint64_t address);

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
/// Throws ProgramError if a size is 0 or above 65535.
TileWindow tile_window(const Registers& registers);

/// Throws ProgramError unless every window of the result's pixels lies in what their tiles store of the
/// source.
void check_windows_are_stored(const TileLayout& source, const TileLayout& result, const TileWindow& window);

/// The stored line of the source, in the tile that owns line `line` of the result, of the window's kernel
/// line; and the same for columns. `check_windows_are_stored` has passed.
std::uint64_t stored_line(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                          std::uint64_t line, std::uint64_t kernel_line);
std::uint64_t stored_column(const TileLayout& source, const TileLayout& result, const TileWindow& window,
                            std::uint64_t column, std::uint64_t kernel_column);

}  // namespace systole::isa

#include "sim/functional/tiles/tile_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "hw/isa/program_error.h"

namespace systole::functional {
namespace {

void check_places(isa::MemoryId memory, const isa::RowRange& touched, std::string_view who,
                  std::uint64_t places) {
    if (touched.empty() || touched.last <= places) return;
    throw isa::ProgramError(fmt::format("{}s {} to {}; {} has {}", isa::place_name(memory), touched.first,
                                        touched.last - 1, who, places));
}

std::int64_t divide_up_signed(std::int64_t number, std::int64_t divisor) {
    return (number + divisor - 1) / divisor;
}

}  // namespace

TileState::TileState(const isa::Program& executed, const TileSizes& machine, HostMemory& host_memory,
                     isa::HostProcessor* host_processor)
    : program(executed),
      grid(executed.geometry.tiles),
      host(host_memory),
      processor(host_processor),
      narrow_memory(grid.tiles(), machine.narrow_bytes),
      wide_memory(std::uint64_t{grid.tiles()} * grid.units, isa::tile_unit_bytes),
      positions(machine.positions) {}

void TileState::check_fits(const isa::Footprint& touched) const {
    for (const auto& [memory, access, rows] : touched) {
        if (memory == isa::MemoryId::NarrowMemory) {
            check_places(memory, rows, "a tile", narrow_memory.row_elements());
        } else if (memory == isa::MemoryId::WideMemory) {
            check_places(memory, rows, "the machine", wide_memory.rows());
        }
    }
}

Pixel window_corner(const isa::TileWindow& window, const Pixel& result) {
    return {.line = result.line * static_cast<std::int64_t>(window.stride_y) -
                    static_cast<std::int64_t>(window.pad_top),
            .column = result.column * static_cast<std::int64_t>(window.stride_x) -
                      static_cast<std::int64_t>(window.pad_left)};
}

TiledImage::TiledImage(const isa::TileLayout& layout)
    : tile_columns_(layout.grid.columns),
      first_address_(static_cast<std::int64_t>(layout.address)),
      lines_(static_cast<std::int64_t>(layout.lines)),
      columns_(static_cast<std::int64_t>(layout.columns)),
      channels_(static_cast<std::int64_t>(layout.channels)),
      pixel_bytes_(static_cast<std::int64_t>(layout.pixel_bytes)),
      own_lines_(divide_up_signed(lines_, layout.grid.lines)),
      own_columns_(divide_up_signed(columns_, layout.grid.columns)),
      top_(layout.top),
      bottom_(layout.bottom),
      left_(layout.left),
      right_(layout.right) {}

std::uint64_t TiledImage::owner(const Pixel& pixel) const {
    return static_cast<std::uint64_t>(pixel.line / own_lines_ * tile_columns_ + pixel.column / own_columns_);
}

std::vector<Pixel> TiledImage::computed(std::uint64_t tile, bool with_margins) const {
    auto [first, behind] = stored(tile);
    if (!with_margins) {
        const Pixel patch{.line = static_cast<std::int64_t>(tile) / tile_columns_ * own_lines_,
                          .column = static_cast<std::int64_t>(tile) % tile_columns_ * own_columns_};
        first.line = std::max(first.line, patch.line);
        first.column = std::max(first.column, patch.column);
        behind.line = std::min(behind.line, patch.line + own_lines_);
        behind.column = std::min(behind.column, patch.column + own_columns_);
    }
    std::vector<Pixel> pixels;
    for (std::int64_t line = first.line; line < behind.line; ++line) {
        for (std::int64_t column = first.column; column < behind.column; ++column) {
            pixels.push_back({.line = line, .column = column});
        }
    }
    return pixels;
}

std::pair<Pixel, Pixel> TiledImage::stored(std::uint64_t tile) const {
    const std::int64_t line = static_cast<std::int64_t>(tile) / tile_columns_ * own_lines_;
    const std::int64_t column = static_cast<std::int64_t>(tile) % tile_columns_ * own_columns_;
    return {{.line = line - top_, .column = column - left_},
            {.line = line + own_lines_ + bottom_, .column = column + own_columns_ + right_}};
}

std::uint64_t TiledImage::address(std::uint64_t tile, const Pixel& pixel) const {
    const auto [first, behind] = stored(tile);
    if (pixel.line < first.line || pixel.line >= behind.line || pixel.column < first.column ||
        pixel.column >= behind.column) {
        throw std::logic_error(
            fmt::format("tile {} does not store line {}, column {}", tile, pixel.line, pixel.column));
    }
    const std::int64_t stored_columns = behind.column - first.column;
    return static_cast<std::uint64_t>(
        first_address_ +
        ((pixel.line - first.line) * stored_columns + pixel.column - first.column) * pixel_bytes_);
}

}  // namespace systole::functional

#include "hw/isa/panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {
namespace {

RowRange hbm_rows(std::uint64_t first, std::uint64_t count) {
    return checked_rows("high-bandwidth-memory", first, count, hbm_row_limit);
}

using MakeRange = RowRange (*)(std::uint64_t first, std::uint64_t count);

Panels made_panels(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                   const MatrixSize& size, Register panel_rows, bool packed, MakeRange range) {
    Panels panels{.first_row = first_row,
                  .rows = packed ? divide_up(size.rows, std::uint64_t{2}) : size.rows,
                  .panels = divide_up(size.columns, std::uint64_t{shape.lanes}),
                  .panel_rows = registers[panel_rows],
                  .packed = packed};
    if (panels.panel_rows == 0) panels.panel_rows = panels.rows;
    if (panels.panels > 1 && panels.panel_rows < panels.rows) {
        throw ProgramError(
            fmt::format("{} is {}; a panel has {} rows", name(panel_rows), panels.panel_rows, panels.rows));
    }
    range(first_row, saturating_sum(saturating_product(panels.panels - 1, panels.panel_rows), panels.rows));
    return panels;
}

std::uint64_t stride_of(const Registers& registers, Register reg, const RowBlocks& blocks) {
    const std::uint64_t stride = registers[reg];
    if (stride == 0) return blocks.rows;
    if (stride < blocks.rows && blocks.blocks > 1) {
        throw ProgramError(fmt::format("{} is {}; a block has {} rows", name(reg), stride, blocks.rows));
    }
    return stride;
}

std::uint64_t rows_of_blocks(const RowBlocks& blocks, std::uint64_t stride) {
    return saturating_sum(saturating_product(blocks.blocks - 1, stride), blocks.rows);
}

}  // namespace

Panels panels_of(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                 const MatrixSize& size, Register panel_rows, bool packed) {
    return made_panels(registers, shape, first_row, size, panel_rows, packed, memory_rows);
}

Panels hbm_panels(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                  const MatrixSize& size, Register panel_rows, bool packed) {
    return made_panels(registers, shape, first_row, size, panel_rows, packed, hbm_rows);
}

PixelWindows pixel_windows(const Registers& registers) {
    // Products of two of them, and of a third after a check, stay below 2^64.
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    const auto size = [&](Register reg) {
        const std::uint64_t value = at_least_one(registers, reg);
        if (value > most)
            throw ProgramError(fmt::format("{} is {}; it must be at most {}", name(reg), value, most));
        return value;
    };
    const PixelWindows windows{.height = size(Register::WindowInputHeight),
                               .width = size(Register::WindowInputWidth),
                               .channels = size(Register::WindowChannels),
                               .image_rows = size(Register::WindowImageRows),
                               .kernel_height = size(Register::WindowKernelHeight),
                               .kernel_width = size(Register::WindowKernelWidth),
                               .stride_y = size(Register::WindowStrideY),
                               .stride_x = size(Register::WindowStrideX),
                               .pad_top = registers[Register::WindowPadTop],
                               .pad_left = registers[Register::WindowPadLeft],
                               .output_height = size(Register::WindowOutputHeight),
                               .output_width = size(Register::WindowOutputWidth),
                               .dilation_y = size(Register::WindowDilationY),
                               .dilation_x = size(Register::WindowDilationX)};
    if (windows.height * windows.width > windows.image_rows) {
        throw ProgramError(fmt::format("{} is {}; an image has {} pixels", name(Register::WindowImageRows),
                                       windows.image_rows, windows.height * windows.width));
    }
    if (windows.kernel_height * windows.kernel_width > most ||
        windows.kernel_height * windows.kernel_width * windows.channels > most) {
        throw ProgramError(fmt::format("a window has more than {} elements", most));
    }
    return windows;
}

Panels pixel_panels(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                    std::uint64_t windows, std::uint64_t elements, bool packed) {
    const PixelWindows window = pixel_windows(registers);
    if (elements > window.elements()) {
        throw ProgramError(fmt::format("it streams elements up to {} of a window; there are {}", elements - 1,
                                       window.elements()));
    }
    const std::uint64_t images = divide_up(windows, window.windows_of_image());
    const std::uint64_t pixels = (images - 1) * window.image_rows + window.height * window.width;
    return panels_of(registers, shape, first_row, {pixels, window.channels}, Register::SourcePanelRows,
                     packed);
}

std::uint64_t RowWalk::reach(std::uint64_t rows) const {
    if (columns == 0) return rows;
    // Places grow with image, line and column: one of these three is the last.
    const std::uint64_t last = rows - 1;
    std::uint64_t reached = at(last);
    const std::uint64_t line = last / columns;
    if (line % lines > 0) reached = std::max(reached, at(line * columns - 1));
    if (line / lines > 0) reached = std::max(reached, at(line / lines * lines * columns - 1));
    return saturating_sum(reached, 1);
}

bool RowWalk::is_plain(std::uint64_t rows) const {
    return columns == 0 || ((columns == 1 || rows == 1 || column_rows == 1) &&
                            (lines == 1 || rows <= columns || line_rows == columns) &&
                            (rows <= saturating_product(lines, columns) || image_rows == lines * columns));
}

namespace {

RowWalk walk_of(const Registers& registers, Register image_rows, Register line_rows, Register column_rows) {
    RowWalk walk{.columns = registers[Register::WalkColumns]};
    if (walk.columns == 0) return walk;
    walk.lines = at_least_one(registers, Register::WalkLines);
    walk.image_rows = registers[image_rows];
    walk.line_rows = registers[line_rows];
    walk.column_rows = registers[column_rows];
    return walk;
}

}  // namespace

RowWalk walk_from(const Registers& registers, std::uint64_t rows) {
    const RowWalk walk =
        walk_of(registers, Register::FromImageRows, Register::FromLineRows, Register::FromColumnRows);
    return walk.is_plain(rows) ? RowWalk{} : walk;
}

RowWalk walk_to(const Registers& registers, std::uint64_t rows) {
    const RowWalk walk =
        walk_of(registers, Register::ToImageRows, Register::ToLineRows, Register::ToColumnRows);
    if (walk.is_plain(rows)) return {};
    const auto check = [&](Register reg, std::uint64_t apart, std::uint64_t inside) {
        if (apart >= inside) return;
        throw ProgramError(fmt::format("{} is {}; it must be at least {}, so that rows of the result differ",
                                       name(reg), apart, inside));
    };
    if (walk.columns > 1 && rows > 1) check(Register::ToColumnRows, walk.column_rows, 1);
    const std::uint64_t line = (walk.columns - 1) * walk.column_rows + 1;
    if (walk.lines > 1 && rows > walk.columns) check(Register::ToLineRows, walk.line_rows, line);
    const std::uint64_t image = saturating_sum((walk.lines - 1) * walk.line_rows, line);
    if (rows > saturating_product(walk.lines, walk.columns))
        check(Register::ToImageRows, walk.image_rows, image);
    return walk;
}

std::uint64_t hbm_stride(const Registers& registers, const RowBlocks& blocks) {
    return stride_of(registers, Register::DmaHbmRows, blocks);
}

std::uint64_t memory_stride(const Registers& registers, const RowBlocks& blocks) {
    return stride_of(registers, Register::DmaMemoryRows, blocks);
}

RowRange hbm_blocks(const Registers& registers, std::uint64_t first_row, const RowBlocks& blocks) {
    return hbm_rows(first_row, rows_of_blocks(blocks, hbm_stride(registers, blocks)));
}

RowRange memory_blocks(const Registers& registers, std::uint64_t first_row, const RowBlocks& blocks) {
    return memory_rows(first_row, rows_of_blocks(blocks, memory_stride(registers, blocks)));
}

RowRange memory_rows(std::uint64_t first, std::uint64_t count) {
    return checked_rows("vector-memory", first, count, vector_row_limit);
}

RowRange host_words(const Registers& registers, std::uint64_t address, std::uint64_t rows,
                    std::uint64_t columns) {
    const std::uint64_t part = std::uint64_t{registers.core()} * registers[Register::HostCoreBytes];
    const std::uint64_t first = saturating_sum(address, part);
    return {.first = first,
            .last = saturating_sum(first, saturating_product(saturating_product(rows, columns), word_bytes))};
}

void check_weights(const Geometry& geometry, std::uint64_t depth, std::uint64_t columns) {
    if (depth > geometry.rows) {
        throw ProgramError(fmt::format("depth is {}; the array has {} rows", depth, geometry.rows));
    }
    if (columns > geometry.columns) {
        throw ProgramError(fmt::format("columns is {}; the array has {}", columns, geometry.columns));
    }
}

void check_lanes(const TensorShape& shape, std::string_view field, std::uint64_t number) {
    if (number > shape.lanes) {
        throw ProgramError(fmt::format("{} is {}; there are {} lanes", field, number, shape.lanes));
    }
}

}  // namespace systole::isa

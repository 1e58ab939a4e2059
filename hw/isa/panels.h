#pragma once

#include <cstdint>
#include <string_view>

#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/isa/row_range.h"
#include "hw/isa/tensor_shape.h"

// How matrices lie in vector memory and in high-bandwidth memory (docs/isa.md, "Matrices in panels").
// Registers hold any 32-bit numbers, so sums and products saturate; a saturated row exceeds every address and
// is reported as an error.
namespace systole::isa {

struct MatrixSize {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
};

/// A matrix in panels of as many columns as there are lanes. Element (row, column) is in lane column % lanes
/// of a row of panel column / lanes. Packed elements are bfloat16, two rows in one row of the memory: row 2 *
/// i in the lower half of its words, row 2 * i + 1 in the upper one.
struct Panels {
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;        ///< of the memory, in a panel
    std::uint64_t panels = 0;      ///< at least 1
    std::uint64_t panel_rows = 0;  ///< of the memory, from a panel to the next
    bool packed = false;

    std::uint64_t first_row_of(std::uint64_t panel) const { return first_row + panel * panel_rows; }
    RowRange range() const {
        return {.first = first_row, .last = first_row + (panels - 1) * panel_rows + rows};
    }

    bool operator==(const Panels&) const = default;
};

/// The matrix at a row of vector memory. `panel_rows`: the register with the rows from a panel to the next; 0
/// there is as many as a panel has. Throws ProgramError if panels overlap or rows exceed the addresses.
Panels panels_of(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                 const MatrixSize& size, Register panel_rows, bool packed = false);
/// The same in high-bandwidth memory.
Panels hbm_panels(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                  const MatrixSize& size, Register panel_rows, bool packed = false);

/// Images of pixels, of which `product` reads windows.
struct PixelWindows {
    std::uint64_t height = 0;
    std::uint64_t width = 0;
    std::uint64_t channels = 0;
    std::uint64_t image_rows = 0;  ///< pixels from an image to the next
    std::uint64_t kernel_height = 0;
    std::uint64_t kernel_width = 0;
    std::uint64_t stride_y = 0;
    std::uint64_t stride_x = 0;
    std::uint64_t pad_top = 0;
    std::uint64_t pad_left = 0;
    std::uint64_t output_height = 0;
    std::uint64_t output_width = 0;
    std::uint64_t dilation_y = 0;
    std::uint64_t dilation_x = 0;

    std::uint64_t elements() const { return kernel_height * kernel_width * channels; }
    std::uint64_t windows_of_image() const { return output_height * output_width; }
};

/// The window.* registers. Throws ProgramError if one that must be at least 1 is 0, a number of pixels,
/// channels or elements exceeds 2^31, or images overlap.
PixelWindows pixel_windows(const Registers& registers);

/// The pixels of all images that `windows` windows reach, in panels of channels. Throws ProgramError if a
/// window has fewer than `elements` elements.
Panels pixel_panels(const Registers& registers, const TensorShape& shape, std::uint64_t first_row,
                    std::uint64_t windows, std::uint64_t elements, bool packed);

/// Rows of a matrix that lie apart: row i belongs to a line and an image (walk.* registers).
struct RowWalk {
    std::uint64_t lines = 0;    ///< of an image
    std::uint64_t columns = 0;  ///< of a line
    // Rows from one to the next.
    std::uint64_t image_rows = 0;
    std::uint64_t line_rows = 0;
    std::uint64_t column_rows = 1;

    /// The place of row i, from the first row on.
    std::uint64_t at(std::uint64_t row) const {
        if (columns == 0) return row;
        const std::uint64_t line = row / columns;
        return line / lines * image_rows + line % lines * line_rows + row % columns * column_rows;
    }
    /// As many places as the first `rows` rows reach.
    std::uint64_t reach(std::uint64_t rows) const;
    /// Whether the first `rows` rows follow each other.
    bool is_plain(std::uint64_t rows) const;

    bool operator==(const RowWalk&) const = default;
};

/// The walk of the `rows` rows of a chain's first source (from.* registers). If rows follow each other, it is
/// RowWalk{}.
RowWalk walk_from(const Registers& registers, std::uint64_t rows);
/// The same of its first result (to.* registers). Throws ProgramError unless all rows of the result differ.
RowWalk walk_to(const Registers& registers, std::uint64_t rows);

/// Blocks of rows of a transfer.
struct RowBlocks {
    std::uint64_t rows = 0;  ///< of a block
    std::uint64_t blocks = 0;
};

/// Rows from one block of a transfer to the next: a register's value, or the block's rows if it is 0. Throws
/// ProgramError if blocks overlap.
std::uint64_t hbm_stride(const Registers& registers, const RowBlocks& blocks);
std::uint64_t memory_stride(const Registers& registers, const RowBlocks& blocks);
/// The rows from the first block to the last.
RowRange hbm_blocks(const Registers& registers, std::uint64_t first_row, const RowBlocks& blocks);
RowRange memory_blocks(const Registers& registers, std::uint64_t first_row, const RowBlocks& blocks);

/// `count` rows of vector memory. Throws ProgramError if they exceed its addresses.
RowRange memory_rows(std::uint64_t first, std::uint64_t count);
/// The bytes of packed words in host memory, in the part of the registers' core.
RowRange host_words(const Registers& registers, std::uint64_t address, std::uint64_t rows,
                    std::uint64_t columns);

/// Throws ProgramError if the array has not so many rows and columns.
void check_weights(const Geometry& geometry, std::uint64_t depth, std::uint64_t columns);
/// Throws ProgramError if there are not so many lanes.
void check_lanes(const TensorShape& shape, std::string_view field, std::uint64_t number);

}  // namespace systole::isa

#pragma once

#include <cstdint>

#include "hw/isa/footprint.h"

namespace systole::isa {

/// The rows of an operand of element-wise `vector` work: the first rows_per_image rows of each image, in
/// order. Row i is first_row + i / rows_per_image * image_rows + i % rows_per_image. All numbers except
/// first_row are at least 1.
struct ImageSlices {
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;            ///< in all images together; the last image may have fewer
    std::uint64_t rows_per_image = 0;  ///< rows of an image that the work covers
    std::uint64_t image_rows = 0;      ///< from one image to the next

    std::uint64_t images() const;
    /// The rows of one image, counted from 0, below images().
    RowRange of_image(std::uint64_t image) const;
    /// The range from the first row to the last. Throws ProgramError if it exceeds the row addresses.
    RowRange range() const;
};

/// The slices of an operand of `rows` rows from `first_row` on, by the vector.* registers; `image_rows` is
/// the operand's register for the rows from image to image. If vector.rows_per_image is 0, all rows belong to
/// one image. Throws ProgramError if images overlap.
ImageSlices image_slices(const Registers& registers, Register image_rows, std::uint64_t first_row,
                         std::uint64_t rows);

/// Checks that results do not overwrite operand rows that are still to be read. Rows are read and written one
/// after the other, so results may replace an operand row by row. Both have the same number of rows. Throws
/// ProgramError.
void check_in_place(const ImageSlices& written, const ImageSlices& read);

}  // namespace systole::isa

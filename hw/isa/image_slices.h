#pragma once

#include <cstdint>

#include "hw/isa/footprint.h"

namespace systole::isa {

/// The rows of an operand of element-wise `vector` work: some of each image, in order. Row i of them is
/// first_row + i / rows_per_image * image_rows + i % rows_per_image. None of the numbers is 0.
struct ImageSlices {
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;            ///< of all images together; the last one may have fewer
    std::uint64_t rows_per_image = 0;  ///< worked on
    std::uint64_t image_rows = 0;      ///< from one image to the next

    std::uint64_t images() const;
    /// The rows of one image, of those before images().
    RowRange of_image(std::uint64_t image) const;
    /// From the first row to the last. Throws ProgramError if no address can name it.
    RowRange range() const;
};

/// Where the vector.* registers place `rows` rows of an operand that begins at `first_row`; `image_rows` is
/// the operand's register for the rows from image to image. Without vector.rows_per_image they are all of
/// one image. Throws ProgramError where images overlap.
ImageSlices image_slices(const Registers& registers, Register image_rows, std::uint64_t first_row,
                         std::uint64_t rows);

/// Rows are read and written one after the other: results may take the place of an operand, row by row,
/// but not of rows of it that are still to be read. Both of as many rows. Throws ProgramError where they
/// would.
void check_in_place(const ImageSlices& written, const ImageSlices& read);

}  // namespace systole::isa

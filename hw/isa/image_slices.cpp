#include "hw/isa/image_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/arithmetic.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {
namespace {

bool same_rows(const ImageSlices& a, const ImageSlices& b) {
    return a.first_row == b.first_row && (a.images() == 1 || a.image_rows == b.image_rows);
}

/// Whether the two share a row. Rows of both ascend, so one walk along both finds it.
bool overlap(const ImageSlices& a, const ImageSlices& b) {
    if (!a.range().overlaps(b.range())) return false;
    for (std::uint64_t in_a = 0, in_b = 0; in_a < a.images() && in_b < b.images();) {
        const RowRange of_a = a.of_image(in_a);
        const RowRange of_b = b.of_image(in_b);
        if (of_a.overlaps(of_b)) return true;
        ++(of_a.first < of_b.first ? in_a : in_b);
    }
    return false;
}

}  // namespace

std::uint64_t ImageSlices::images() const {
    return divide_up(rows, rows_per_image);
}

RowRange ImageSlices::of_image(std::uint64_t image) const {
    const std::uint64_t first = first_row + image * image_rows;
    return {.first = first, .last = first + std::min(rows_per_image, rows - image * rows_per_image)};
}

RowRange ImageSlices::range() const {
    const std::uint64_t last_image = images() - 1;
    const std::uint64_t rows_of_last = rows - last_image * rows_per_image;
    return buffer_rows(first_row, saturating_sum(saturating_product(last_image, image_rows), rows_of_last));
}

ImageSlices image_slices(const Registers& registers, Register image_rows, std::uint64_t first_row,
                         std::uint64_t rows) {
    const std::uint64_t rows_per_image = registers[Register::VectorRowsPerImage];
    if (rows_per_image == 0 || rows <= rows_per_image) {
        return {.first_row = first_row, .rows = rows, .rows_per_image = rows, .image_rows = rows};
    }
    if (registers[image_rows] < rows_per_image) {
        throw ProgramError(fmt::format("{} is {}; it must be at least vector.rows_per_image, which is {}",
                                       name(image_rows), registers[image_rows], rows_per_image));
    }
    return {.first_row = first_row,
            .rows = rows,
            .rows_per_image = rows_per_image,
            .image_rows = registers[image_rows]};
}

void check_in_place(const ImageSlices& written, const ImageSlices& read) {
    if (same_rows(written, read) || !overlap(written, read)) return;
    throw ProgramError(fmt::format("dst is {}; the rows written must be those of an operand or none of them",
                                   written.first_row));
}

}  // namespace systole::isa

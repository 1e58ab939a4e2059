#include "hw/math/window.h"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.h"
#include "base/window_geometry.h"
#include "hw/math/short_copy.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

/// The values that are the same for all pieces of a gather. Distances are in bytes.
struct Gather {
    const WindowGeometry& geometry;
    std::ptrdiff_t pixel_bytes;
    std::uint16_t pad_value;
    std::size_t element_bytes;
    std::size_t out_stride;
    // The windows of a line, counted from the left, whose whole width lies inside the image.
    std::size_t inside_begin;
    std::size_t inside_end;
};

/// Bytes [begin, end) of one kernel row.
struct Piece {
    std::ptrdiff_t begin;
    std::ptrdiff_t end;
};

std::ptrdiff_t to_signed(std::size_t value) {
    return static_cast<std::ptrdiff_t>(value);
}

void fill(const Gather& gather, std::ptrdiff_t bytes, std::uint8_t* out) {
    if (gather.element_bytes == 1) {
        std::memset(out, gather.pad_value, static_cast<std::size_t>(bytes));
        return;
    }
    for (std::ptrdiff_t i = 0; i < bytes; i += 2) {
        std::memcpy(out + i, &gather.pad_value, sizeof(gather.pad_value));
    }
}

/// Gathers the piece of a window that begins at pixel `x`, possibly outside, of the image line at `line`.
void gather_at_border(const Gather& gather, const std::uint8_t* line, std::ptrdiff_t x, const Piece& piece,
                      std::uint8_t* out) {
    const std::ptrdiff_t start = x * gather.pixel_bytes;  // start of the kernel row in the image line
    const std::ptrdiff_t line_bytes = std::ptrdiff_t{gather.geometry.input_width} * gather.pixel_bytes;
    const std::ptrdiff_t first = std::clamp(-start, piece.begin, piece.end);
    const std::ptrdiff_t last = std::clamp(line_bytes - start, first, piece.end);
    fill(gather, first - piece.begin, out);
    if (last > first) {
        std::memcpy(out + (first - piece.begin), line + start + first,
                    static_cast<std::size_t>(last - first));
    }
    fill(gather, piece.end - last, out + (last - piece.begin));
}

/// Gathers the pieces of all windows of an output line whose kernel row lies in the image line at `line`.
SYSTOLE_TARGET_CLONES void gather_line(const Gather& gather, const std::uint8_t* line, const Piece& piece,
                                       std::uint8_t* out) {
    const WindowGeometry& geometry = gather.geometry;
    const auto x_of = [&](std::size_t window) {
        return to_signed(window * geometry.stride_x) - std::ptrdiff_t{geometry.pad_left};
    };
    for (std::size_t window = 0; window < gather.inside_begin; ++window) {
        gather_at_border(gather, line, x_of(window), piece, out + window * gather.out_stride);
    }
    if (gather.inside_begin < gather.inside_end) {
        const std::size_t first = gather.inside_begin;
        copy_rows(line + x_of(first) * gather.pixel_bytes + piece.begin,
                  geometry.stride_x * static_cast<std::size_t>(gather.pixel_bytes),
                  static_cast<std::size_t>(piece.end - piece.begin), gather.inside_end - first,
                  out + first * gather.out_stride, gather.out_stride);
    }
    for (std::size_t window = gather.inside_end; window < geometry.output_width; ++window) {
        gather_at_border(gather, line, x_of(window), piece, out + window * gather.out_stride);
    }
}

}  // namespace

void gather_windows(const std::uint8_t* tensor, const WindowGeometry& geometry, const WindowRange& range,
                    std::uint16_t pad_value, std::size_t element_bytes, std::uint8_t* out,
                    std::size_t out_stride) {
    if (range.count == 0) return;
    const std::size_t pixel_bytes = geometry.channels * element_bytes;
    const std::size_t kernel_row_bytes = geometry.kernel_width * pixel_bytes;
    const std::size_t line_bytes = geometry.input_width * pixel_bytes;

    // Window w begins at pixel w * stride_x - pad_left. Windows from `left` on do not begin left of the
    // image, and windows before `right` do not extend beyond it.
    const std::size_t width = geometry.output_width;
    const std::size_t left = divide_up(geometry.pad_left, geometry.stride_x);
    const std::size_t reach = std::size_t{geometry.input_width} + geometry.pad_left;
    const std::size_t right =
        reach < geometry.kernel_width ? 0 : (reach - geometry.kernel_width) / geometry.stride_x + 1;
    const std::size_t inside_begin = std::min(left, width);
    const Gather gather{.geometry = geometry,
                        .pixel_bytes = to_signed(pixel_bytes),
                        .pad_value = pad_value,
                        .element_bytes = element_bytes,
                        .out_stride = out_stride,
                        .inside_begin = inside_begin,
                        .inside_end = std::clamp(right, inside_begin, width)};

    const std::size_t begin = range.begin * element_bytes;
    const std::size_t end = begin + range.count * element_bytes;
    for (std::size_t line = range.first_line; line < range.first_line + range.lines; ++line) {
        const std::uint8_t* const image =
            tensor + line / geometry.output_height * geometry.image_stride_bytes;
        const auto top =
            to_signed(line % geometry.output_height * geometry.stride_y) - std::ptrdiff_t{geometry.pad_top};
        for (std::size_t at = begin; at < end;) {
            const std::size_t kernel_row = at / kernel_row_bytes;
            const std::size_t row_start = kernel_row * kernel_row_bytes;
            const std::size_t piece_end = std::min(end, row_start + kernel_row_bytes);
            const Piece piece{to_signed(at - row_start), to_signed(piece_end - row_start)};
            std::uint8_t* const to = out + (at - begin);
            const std::ptrdiff_t y = top + to_signed(kernel_row);
            if (y >= 0 && y < std::ptrdiff_t{geometry.input_height}) {
                gather_line(gather, image + static_cast<std::size_t>(y) * line_bytes, piece, to);
            } else {
                for (std::size_t window = 0; window < width; ++window) {
                    fill(gather, piece.end - piece.begin, to + window * out_stride);
                }
            }
            at = piece_end;
        }
        out += width * out_stride;
    }
}

std::optional<StridedView> contiguous_windows(const std::uint8_t* tensor, const WindowGeometry& geometry,
                                              const WindowRange& range, std::size_t element_bytes) {
    if (range.count == 0 || range.lines == 0) return std::nullopt;
    const std::size_t pixel_bytes = geometry.channels * element_bytes;
    const std::size_t line_bytes = geometry.input_width * pixel_bytes;
    const std::size_t kernel_row_elements = std::size_t{geometry.kernel_width} * geometry.channels;
    const std::size_t first_kernel_row = range.begin / kernel_row_elements;
    const std::size_t last_kernel_row = (range.begin + range.count - 1) / kernel_row_elements;
    // Several kernel rows are contiguous if no bytes lie between them.
    if (first_kernel_row != last_kernel_row && geometry.kernel_width != geometry.input_width) {
        return std::nullopt;
    }

    // Requires whole windows inside the image, not only the range's pixels: simpler, and rarely different.
    const std::size_t height = geometry.output_height;
    const std::size_t width = geometry.output_width;
    const std::size_t first = range.first_line % height;
    const bool one_image = first + range.lines <= height;
    const std::size_t last = one_image ? first + range.lines - 1 : height - 1;
    if (geometry.pad_left != 0 || geometry.pad_top != 0 ||
        (width - 1) * geometry.stride_x + geometry.kernel_width > geometry.input_width ||
        last * geometry.stride_y + geometry.kernel_height > geometry.input_height) {
        return std::nullopt;
    }

    // The distances from a window to the next one: inside a line, to the next line, and to the next image.
    const std::size_t step = geometry.stride_x * pixel_bytes;
    const std::size_t line_step = geometry.stride_y * line_bytes;
    const bool several_windows = width > 1;
    const bool several_lines = one_image ? range.lines > 1 : height > 1;
    std::optional<std::size_t> distance;
    const auto agrees = [&](bool exists, std::size_t from_one_to_next) {
        if (!exists) return true;
        if (!distance) distance = from_one_to_next;
        return *distance == from_one_to_next;
    };
    const std::size_t bytes = range.count * element_bytes;
    if (!agrees(several_windows, step)) return std::nullopt;
    if (!agrees(several_lines, line_step - (width - 1) * step)) return std::nullopt;
    if (!agrees(!one_image, geometry.image_stride_bytes - (height - 1) * line_step - (width - 1) * step)) {
        return std::nullopt;
    }
    if (!distance) distance = bytes;
    if (*distance < bytes) return std::nullopt;

    const std::uint8_t* const data = tensor + range.first_line / height * geometry.image_stride_bytes +
                                     first * line_step + range.begin % kernel_row_elements * element_bytes +
                                     first_kernel_row * line_bytes;
    return StridedView{data, *distance};
}

}  // namespace systole::math

#include "hw/product_setup/rows.h"

#include <algorithm>

#include "hw/math/floats/word_rows.h"

namespace systole::hw {

void ProductRows::write(float* out) const {
    for (std::uint64_t row = 0; row < rows; ++row) {
        if (windows) {
            take_window(row, out + row * depth);
        } else {
            take(row, first, depth, out + row * depth);
        }
    }
}

void ProductRows::take(std::uint64_t row, std::uint64_t from, std::uint64_t count, float* out) const {
    const std::uint64_t memory_row = panels.packed ? row / 2 : row;
    while (count > 0) {
        const std::uint64_t lane = from % lanes;
        const std::uint64_t some = std::min(count, lanes - lane);
        const std::uint32_t* const words =
            memory + (panels.first_row_of(from / lanes) + memory_row) * lanes + lane;
        if (panels.packed) {
            math::widen(words, some, row % 2 == 0 ? math::WordHalf::Lower : math::WordHalf::Upper, out);
        } else {
            math::take_part(words, some, part, out);
        }
        from += some;
        count -= some;
        out += some;
    }
}

void ProductRows::take_window(std::uint64_t window, float* out) const {
    const isa::PixelWindows& w = *windows;
    const std::uint64_t image = window / w.windows_of_image();
    const std::uint64_t place = window % w.windows_of_image();
    // Numbers below 0 become large ones, so one comparison finds what is outside.
    const std::uint64_t top = place / w.output_width * w.stride_y - w.pad_top;
    const std::uint64_t left = place % w.output_width * w.stride_x - w.pad_left;
    for (std::uint64_t element = first; element < first + depth;) {
        const std::uint64_t channel = element % w.channels;
        const std::uint64_t tap = element / w.channels;
        const std::uint64_t count = std::min(w.channels - channel, first + depth - element);
        const std::uint64_t line = top + tap / w.kernel_width * w.dilation_y;
        const std::uint64_t column = left + tap % w.kernel_width * w.dilation_x;
        if (line < w.height && column < w.width) {
            take(image * w.image_rows + line * w.width + column, channel, count, out);
        } else {
            std::fill_n(out, count, 0.0F);
        }
        element += count;
        out += count;
    }
}

}  // namespace systole::hw

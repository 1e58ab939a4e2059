#include "hw/math/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/limits.h"
#include "base/window_geometry.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

/// The part of a window inside the image. Loops that write bytes take it by value: a byte pointer may alias
/// anything, and the compiler would reload the fields in every iteration.
struct Pixels {
    const std::uint8_t* first;  ///< the top left pixel
    std::size_t rows;
    std::size_t columns;
    std::size_t line_bytes;  ///< from one row to the next
    std::size_t channels;
    std::size_t outside;  ///< pixels of the window that lie outside and count
};

/// Bits that turn signed order into unsigned order.
constexpr std::uint8_t sign_bit = 0x80;

/// The largest elements by channel. Elements are compared as unsigned numbers after XOR with `flip`, which
/// keeps their order.
SYSTOLE_TARGET_CLONES void largest(Pixels pixels, std::uint8_t pad_value, std::uint8_t flip,
                                   std::uint8_t* __restrict out) {
    const auto ordered = [flip](std::uint8_t bits) { return static_cast<std::uint8_t>(bits ^ flip); };
    const std::uint8_t lowest = pixels.outside > 0 ? ordered(pad_value) : std::uint8_t{0};
    std::fill_n(out, pixels.channels, lowest);
    for (std::size_t row = 0; row < pixels.rows; ++row) {
        for (std::size_t column = 0; column < pixels.columns; ++column) {
            const std::uint8_t* const in = pixels.first + row * pixels.line_bytes + column * pixels.channels;
            for (std::size_t c = 0; c < pixels.channels; ++c) {
                const std::uint8_t value = ordered(in[c]);
                out[c] = out[c] < value ? value : out[c];
            }
        }
    }
    for (std::size_t c = 0; c < pixels.channels; ++c) out[c] = ordered(out[c]);
}

/// Adds up the elements by channel; an element's number is its bits XOR `flip`, minus `flip`.
SYSTOLE_TARGET_CLONES void add_up(Pixels pixels, std::uint8_t flip, std::int32_t* __restrict sums) {
    for (std::size_t row = 0; row < pixels.rows; ++row) {
        for (std::size_t column = 0; column < pixels.columns; ++column) {
            const std::uint8_t* const in = pixels.first + row * pixels.line_bytes + column * pixels.channels;
            for (std::size_t c = 0; c < pixels.channels; ++c) {
                sums[c] += std::int32_t{static_cast<std::uint8_t>(in[c] ^ flip)} - std::int32_t{flip};
            }
        }
    }
}

/// Divides sums by the count, rounded half away from zero. Division and truncation use doubles, which vector
/// units support: for integers below 53 bits the quotient is never rounded up to the next integer.
SYSTOLE_TARGET_CLONES void divide_rounded(const std::int32_t* __restrict sums, std::size_t channels,
                                          std::int32_t count, std::uint8_t* __restrict out) {
    const std::int32_t half = count / 2;
    for (std::size_t c = 0; c < channels; ++c) {
        const std::int32_t nudged = sums[c] + (sums[c] < 0 ? -half : half);
        out[c] = static_cast<std::uint8_t>(static_cast<std::int32_t>(static_cast<double>(nudged) / count));
    }
}

void average(const Pixels& pixels, std::uint8_t pad_value, std::uint8_t flip, std::vector<std::int32_t>& sums,
             std::uint8_t* out) {
    const std::int32_t pad = std::int32_t{static_cast<std::uint8_t>(pad_value ^ flip)} - std::int32_t{flip};
    const auto outside = static_cast<std::int32_t>(pixels.outside);
    const auto count = static_cast<std::int32_t>(pixels.rows * pixels.columns) + outside;
    std::fill(sums.begin(), sums.end(), pad * outside);
    add_up(pixels, flip, sums.data());
    divide_rounded(sums.data(), pixels.channels, count, out);
}

/// Positions [begin, end) of a window that starts at `start`, limited to those inside [0, size).
struct Extent {
    std::size_t begin;
    std::size_t end;

    Extent(std::ptrdiff_t start, std::uint32_t kernel, std::uint32_t size)
        : begin(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(start, 0, size))),
          end(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(start + kernel, 0, size))) {}

    std::size_t size() const { return end - begin; }
};

}  // namespace

void pool(const std::uint8_t* tensor, const WindowGeometry& geometry, const PoolingRules& rules,
          std::size_t first_line, std::size_t lines, const PoolingOutput& output) {
    const std::size_t window_pixels = std::size_t{geometry.kernel_height} * geometry.kernel_width;
    if (window_pixels > largest_pooling_window) {
        throw std::logic_error(fmt::format("pool: a window has {} pixels; it must have at most {}",
                                           window_pixels, largest_pooling_window));
    }
    const std::size_t channels = geometry.channels;
    const std::size_t line_bytes = geometry.input_width * channels;
    const std::uint8_t flip = is_signed(rules.elements) ? sign_bit : std::uint8_t{0};
    std::vector<std::int32_t> sums(rules.operation == Pooling::Average ? channels : 0);

    for (std::size_t line = first_line; line < first_line + lines; ++line) {
        const std::size_t image = line / geometry.output_height;
        const std::size_t output_y = line % geometry.output_height;
        const std::uint8_t* const in = tensor + image * geometry.image_stride_bytes;
        std::uint8_t* to = output.first + image * output.image_stride +
                           output_y * geometry.output_width * output.pixel_stride;
        const Extent y(
            static_cast<std::ptrdiff_t>(output_y * geometry.stride_y) - std::ptrdiff_t{geometry.pad_top},
            geometry.kernel_height, geometry.input_height);
        for (std::size_t output_x = 0; output_x < geometry.output_width;
             ++output_x, to += output.pixel_stride) {
            const Extent x(
                static_cast<std::ptrdiff_t>(output_x * geometry.stride_x) - std::ptrdiff_t{geometry.pad_left},
                geometry.kernel_width, geometry.input_width);
            const std::size_t inside = y.size() * x.size();
            if (inside == 0) {
                std::fill_n(to, channels, rules.pad_value);
                continue;
            }
            const Pixels pixels{.first = in + y.begin * line_bytes + x.begin * channels,
                                .rows = y.size(),
                                .columns = x.size(),
                                .line_bytes = line_bytes,
                                .channels = channels,
                                .outside = rules.count_padding ? window_pixels - inside : 0};
            switch (rules.operation) {
                case Pooling::Max:
                    largest(pixels, rules.pad_value, flip, to);
                    break;
                case Pooling::Average:
                    average(pixels, rules.pad_value, flip, sums, to);
                    break;
            }
        }
    }
}

}  // namespace systole::math

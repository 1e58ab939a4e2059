#include "compiler/graph/operators/pool.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"
#include "compiler/graph/window.h"

namespace systole::graph {
namespace {

/// Calls `visit` with each pixel of the image under a window.
template <typename Visit>
void for_each_pixel(const float* image, const Shape& shape, const WindowSpan& rows, const WindowSpan& columns,
                    const Visit& visit) {
    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
        for (std::uint32_t column = columns.first; column < columns.last; ++column) {
            const auto y = static_cast<std::size_t>(rows.origin + row);
            const auto x = static_cast<std::size_t>(columns.origin + column);
            visit(image + (y * shape.width + x) * shape.channels);
        }
    }
}

}  // namespace

std::string Pool::parameters() const {
    return fmt::format("{}, {}", pooling == PoolKind::Max ? "max" : "average", to_text(window));
}

Shape Pool::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (std::max(window.pad_top, window.pad_bottom) >= window.kernel_height ||
        std::max(window.pad_left, window.pad_right) >= window.kernel_width) {
        throw ModelError(
            fmt::format("it pools with {}; the padding must be smaller than the kernel", to_text(window)));
    }
    return window_output(input, window, input.channels);
}

void Pool::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                    float* output) const {
    const Shape& input = only_input(shapes);
    const Shape result = output_shape(shapes);
    const std::size_t channels = input.channels;
    for (std::uint32_t image = 0; image < batch; ++image) {
        const float* const pixels = inputs[0] + image * input.elements();
        for (std::uint32_t y = 0; y < result.height; ++y) {
            const WindowSpan rows = vertical_span(input, window, y);
            for (std::uint32_t x = 0; x < result.width; ++x, output += channels) {
                const WindowSpan columns = horizontal_span(input, window, x);
                if (pooling == PoolKind::Max) {
                    std::fill_n(output, channels, std::numeric_limits<float>::lowest());
                    for_each_pixel(pixels, input, rows, columns, [&](const float* pixel) {
                        for (std::size_t c = 0; c < channels; ++c) output[c] = std::max(output[c], pixel[c]);
                    });
                } else {
                    std::fill_n(output, channels, 0.0F);
                    for_each_pixel(pixels, input, rows, columns, [&](const float* pixel) {
                        for (std::size_t c = 0; c < channels; ++c) output[c] += pixel[c];
                    });
                    const auto count = static_cast<float>(rows.last - rows.first) *
                                       static_cast<float>(columns.last - columns.first);
                    for (std::size_t c = 0; c < channels; ++c) output[c] /= count;
                }
            }
        }
    }
}

}  // namespace systole::graph

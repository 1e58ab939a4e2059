#include "compiler/graph/operators/depthwise_convolution.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"
#include "compiler/graph/window.h"

namespace systole::graph {

std::string DepthwiseConvolution::parameters() const {
    return fmt::format("{}, multiplier {}, bias {}", to_text(window), multiplier,
                       bias.empty() ? "no" : "yes");
}

Shape DepthwiseConvolution::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (input.channels != in_channels) {
        throw ModelError(
            fmt::format("its input has {} channels; its weights are for {}", input.channels, in_channels));
    }
    const std::uint64_t channels = std::uint64_t{in_channels} * multiplier;
    if (channels > std::numeric_limits<std::uint32_t>::max()) {
        throw ModelError(fmt::format("its result has {} channels; that is too many", channels));
    }
    require_weights(weights.size(),
                    checked_product({window.kernel_height, window.kernel_width, in_channels, multiplier}));
    require_values(bias.size(), bias.empty() ? 0 : channels, "bias");
    return window_output(input, window, out_channels());
}

std::uint64_t DepthwiseConvolution::macs(std::span<const Shape> inputs) const {
    const Shape output = output_shape(inputs);
    return std::uint64_t{output.height} * output.width * weight_count();
}

void DepthwiseConvolution::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                                    std::uint32_t batch, float* output) const {
    require_weight_values(weights.size());
    const Shape& input = only_input(shapes);
    const Shape result = output_shape(shapes);
    const std::size_t channels = out_channels();
    const auto add_pixel = [&](const float* pixel, const float* weight, float* sums) {
        if (multiplier == 1) {
            for (std::size_t c = 0; c < channels; ++c) sums[c] += pixel[c] * weight[c];
            return;
        }
        for (std::size_t c = 0; c < in_channels; ++c) {
            for (std::size_t m = 0; m < multiplier; ++m) {
                sums[c * multiplier + m] += pixel[c] * weight[c * multiplier + m];
            }
        }
    };
    float* sums = output;
    for (std::uint32_t image = 0; image < batch; ++image) {
        const float* const pixels = inputs[0] + image * input.elements();
        for (std::uint32_t y = 0; y < result.height; ++y) {
            const WindowSpan rows = vertical_span(input, window, y);
            for (std::uint32_t x = 0; x < result.width; ++x, sums += channels) {
                const WindowSpan columns = horizontal_span(input, window, x);
                if (bias.empty()) {
                    std::fill_n(sums, channels, 0.0F);
                } else {
                    std::copy_n(bias.data(), channels, sums);
                }
                for (std::uint32_t row = rows.first; row < rows.last; ++row) {
                    for (std::uint32_t column = columns.first; column < columns.last; ++column) {
                        const auto image_row = static_cast<std::size_t>(rows.origin + row);
                        const auto image_column = static_cast<std::size_t>(columns.origin + column);
                        const std::size_t tap = std::size_t{row} * window.kernel_width + column;
                        add_pixel(pixels + (image_row * input.width + image_column) * in_channels,
                                  weights.data() + tap * channels, sums);
                    }
                }
            }
        }
    }
}

}  // namespace systole::graph

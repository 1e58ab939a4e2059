#include "compiler/graph/operators/convolution.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "compiler/graph/gemm.h"
#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"
#include "compiler/graph/window.h"

namespace systole::graph {
namespace {

/// Writes the elements under one window, in the order of the weights; outside the image: 0.
class WindowGatherer {
public:
    WindowGatherer(const Shape& input, const Window& window, const Shape& output)
        : input_(input), window_(window), line_(std::size_t{window.kernel_width} * input.channels) {
        for (std::uint32_t y = 0; y < output.height; ++y) rows_.push_back(vertical_span(input, window, y));
        for (std::uint32_t x = 0; x < output.width; ++x)
            columns_.push_back(horizontal_span(input, window, x));
    }

    void gather(const float* image, std::uint32_t y, std::uint32_t x, float* to) const {
        const WindowSpan& rows = rows_[y];
        const WindowSpan& columns = columns_[x];
        const std::size_t channels = input_.channels;
        const std::size_t before = columns.first * channels;
        const std::size_t inside = (columns.last - columns.first) * channels;
        for (std::uint32_t row = 0; row < window_.kernel_height; ++row, to += line_) {
            if (row < rows.first || row >= rows.last || inside == 0) {
                std::fill_n(to, line_, 0.0F);
                continue;
            }
            const auto image_row = static_cast<std::size_t>(rows.origin + row);
            const auto image_column = static_cast<std::size_t>(columns.origin + columns.first);
            std::fill_n(to, before, 0.0F);
            std::copy_n(image + (image_row * input_.width + image_column) * channels, inside, to + before);
            std::fill_n(to + before + inside, line_ - before - inside, 0.0F);
        }
    }

private:
    Shape input_;
    Window window_;
    std::size_t line_;
    std::vector<WindowSpan> rows_;
    std::vector<WindowSpan> columns_;
};

bool is_pointwise(const Window& window) {
    return window == Window{};
}

}  // namespace

std::string Convolution::parameters() const {
    return fmt::format("{}, filters {}, bias {}", to_text(window), filters, bias.empty() ? "no" : "yes");
}

Shape Convolution::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (input.channels != in_channels) {
        throw ModelError(
            fmt::format("its input has {} channels; its weights are for {}", input.channels, in_channels));
    }
    require_weights(weights.size(),
                    checked_product({window.kernel_height, window.kernel_width, in_channels, filters}));
    require_values(bias.size(), bias.empty() ? 0 : filters, "bias");
    return window_output(input, window, filters);
}

std::uint64_t Convolution::macs(std::span<const Shape> inputs) const {
    const Shape output = output_shape(inputs);
    return std::uint64_t{output.height} * output.width * weight_count();
}

void Convolution::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                           std::uint32_t batch, float* output) const {
    require_weight_values(weights.size());
    const Shape& input = only_input(shapes);
    const Shape result = output_shape(shapes);
    const std::size_t depth = weights.size() / filters;
    const std::size_t pixels = std::size_t{result.height} * result.width;
    const std::size_t rows = batch * pixels;
    if (is_pointwise(window)) {
        multiply(inputs[0], weights.data(), output, rows, filters, depth);
        add_bias(output, bias.empty() ? nullptr : bias.data(), rows, filters);
        return;
    }

    // As a matrix product over gathered windows, in pieces small enough to stay in the cache.
    constexpr std::size_t piece_elements = std::size_t{1} << 16;
    const std::size_t piece_rows = std::clamp<std::size_t>(piece_elements / depth, 1, rows);
    const WindowGatherer gatherer(input, window, result);
    std::vector<float> gathered(piece_rows * depth);
    for (std::size_t first = 0; first < rows; first += piece_rows) {
        const std::size_t count = std::min(piece_rows, rows - first);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t image = (first + i) / pixels;
            const std::size_t pixel = (first + i) % pixels;
            gatherer.gather(inputs[0] + image * input.elements(),
                            static_cast<std::uint32_t>(pixel / result.width),
                            static_cast<std::uint32_t>(pixel % result.width), gathered.data() + i * depth);
        }
        float* const piece = output + first * filters;
        multiply(gathered.data(), weights.data(), piece, count, filters, depth);
        add_bias(piece, bias.empty() ? nullptr : bias.data(), count, filters);
    }
}

}  // namespace systole::graph

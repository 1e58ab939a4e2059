#include "compiler/graph/operators/zero_padding.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/graph/operators/inputs.h"

namespace systole::graph {

std::string ZeroPadding::parameters() const {
    return fmt::format("padding {},{},{},{}", top, left, bottom, right);
}

Shape ZeroPadding::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    const std::uint64_t height = std::uint64_t{input.height} + top + bottom;
    const std::uint64_t width = std::uint64_t{input.width} + left + right;
    if (std::max(height, width) > std::numeric_limits<std::uint32_t>::max()) {
        throw ModelError(fmt::format("its result is {} by {}; that is too large", height, width));
    }
    return {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width), input.channels};
}

void ZeroPadding::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                           std::uint32_t batch, float* output) const {
    const Shape& input = only_input(shapes);
    const Shape result = output_shape(shapes);
    std::fill_n(output, batch * result.elements(), 0.0F);
    const std::size_t row_elements = std::size_t{input.width} * input.channels;
    const float* row = inputs[0];
    for (std::uint32_t image = 0; image < batch; ++image) {
        for (std::uint32_t y = 0; y < input.height; ++y, row += row_elements) {
            const std::size_t pixel = (std::size_t{top} + y) * result.width + left;
            std::copy_n(row, row_elements, output + image * result.elements() + pixel * result.channels);
        }
    }
}

}  // namespace systole::graph

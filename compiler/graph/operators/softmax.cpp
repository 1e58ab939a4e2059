#include "compiler/graph/operators/softmax.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/graph/operators/inputs.h"

namespace systole::graph {

Shape Softmax::output_shape(std::span<const Shape> inputs) const {
    return only_input(inputs);
}

void Softmax::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                       std::uint32_t batch, float* output) const {
    const Shape& shape = only_input(shapes);
    const std::size_t pixels = batch * (std::size_t{shape.height} * shape.width);
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const float* const from = inputs[0] + pixel * shape.channels;
        float* const to = output + pixel * shape.channels;
        const float largest = *std::max_element(from, from + shape.channels);
        float sum = 0.0F;
        for (std::size_t c = 0; c < shape.channels; ++c) sum += to[c] = std::exp(from[c] - largest);
        for (std::size_t c = 0; c < shape.channels; ++c) to[c] /= sum;
    }
}

}  // namespace systole::graph

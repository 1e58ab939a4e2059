#include "compiler/graph/operators/multiply.h"

#include <fmt/format.h>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::graph {

Shape Multiply::output_shape(std::span<const Shape> inputs) const {
    if (inputs.size() != 2)
        throw ModelError(fmt::format("it multiplies {} inputs; it must have exactly 2", inputs.size()));
    if (inputs[0] != inputs[1]) {
        throw ModelError(fmt::format("it multiplies {} and {}; the shapes must be the same",
                                     to_text(inputs[0]), to_text(inputs[1])));
    }
    return inputs[0];
}

void Multiply::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                        std::uint32_t batch, float* output) const {
    const std::size_t count = batch * shapes[0].elements();
    for (std::size_t i = 0; i < count; ++i) output[i] = inputs[0][i] * inputs[1][i];
}

}  // namespace systole::graph

#include "compiler/graph/operators/reshape.h"

#include <algorithm>
#include <optional>

#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"

namespace systole::graph {

Shape Reshape::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (checked_elements(shape) != input.elements()) {
        throw ModelError(fmt::format("it reshapes {} to {}; the number of elements must stay the same",
                                     to_text(input), to_text(shape)));
    }
    return shape;
}

void Reshape::evaluate(std::span<const Shape> /*shapes*/, std::span<const float* const> inputs,
                       std::uint32_t batch, float* output) const {
    std::copy_n(inputs[0], batch * shape.elements(), output);
}

}  // namespace systole::graph

#include "compiler/graph/operators/slice.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::graph {

std::string Slice::parameters() const {
    return fmt::format("first {}, count {}", first, count);
}

Shape Slice::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (input.height != 1 || input.width != 1) {
        throw ModelError(fmt::format("it takes a slice of {}; it must be a vector", to_text(input)));
    }
    if (count == 0 || first >= input.channels || count > input.channels - first) {
        throw ModelError(
            fmt::format("it takes {} elements from element {} on; they must be 1 or more, of a "
                        "vector of {}",
                        count, first, input.channels));
    }
    return {1, 1, count};
}

void Slice::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                     float* output) const {
    const std::size_t elements = shapes[0].elements();
    for (std::size_t image = 0; image < batch; ++image) {
        output = std::copy_n(inputs[0] + image * elements + first, count, output);
    }
}

}  // namespace systole::graph

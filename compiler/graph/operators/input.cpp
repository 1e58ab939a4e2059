#include "compiler/graph/operators/input.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::graph {

Shape Input::output_shape(std::span<const Shape> inputs) const {
    if (!inputs.empty()) throw ModelError("it is an input of the network; it must have no inputs itself");
    if (shape.height == 0 || shape.width == 0 || shape.channels == 0) {
        throw ModelError(fmt::format("its shape is {}; each dimension must be at least 1", to_text(shape)));
    }
    return shape;
}

void Input::evaluate(std::span<const Shape> /*shapes*/, std::span<const float* const> /*inputs*/,
                     std::uint32_t /*batch*/, float* /*output*/) const {
    throw std::logic_error("an input is given, not computed");
}

}  // namespace systole::graph

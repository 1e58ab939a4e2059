#include "compiler/graph/operators/concat.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::graph {

Shape Concat::output_shape(std::span<const Shape> inputs) const {
    if (inputs.size() < 2) {
        throw ModelError(fmt::format("it concatenates {} inputs; it must have at least 2", inputs.size()));
    }
    std::uint64_t channels = 0;
    for (const Shape& input : inputs) {
        if (input.height != inputs[0].height || input.width != inputs[0].width) {
            throw ModelError(fmt::format("it concatenates {} and {}; height and width must be the same",
                                         to_text(inputs[0]), to_text(input)));
        }
        channels += input.channels;
    }
    if (channels > std::numeric_limits<std::uint32_t>::max()) {
        throw ModelError(fmt::format("its result has {} channels; that is too large", channels));
    }
    return {inputs[0].height, inputs[0].width, static_cast<std::uint32_t>(channels)};
}

void Concat::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                      std::uint32_t batch, float* output) const {
    const std::size_t pixels = std::size_t{batch} * shapes[0].height * shapes[0].width;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::size_t channels = shapes[i].channels;
            output = std::copy_n(inputs[i] + pixel * channels, channels, output);
        }
    }
}

}  // namespace systole::graph

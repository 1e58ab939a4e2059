#include "compiler/graph/operators/batch_normalization.h"

#include <cmath>
#include <optional>
#include <stdexcept>

#include "compiler/graph/operators/inputs.h"

namespace systole::graph {

std::string BatchNormalization::parameters() const {
    return fmt::format("epsilon {}", epsilon);
}

Shape BatchNormalization::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (input.channels != gamma.size()) {
        throw ModelError(
            fmt::format("its input has {} channels; its weights are for {}", input.channels, gamma.size()));
    }
    for (const auto* values : {&beta, &mean, &variance}) {
        require_values(values->size(), gamma.size(), "batch normalization");
    }
    for (const float value : variance) {
        if (!(value + epsilon > 0.0F)) {
            throw ModelError(
                fmt::format("a variance is {} and epsilon {}; their sum must be above 0", value, epsilon));
        }
    }
    return input;
}

BatchNormalization::Affine BatchNormalization::affine() const {
    Affine result;
    for (std::size_t c = 0; c < gamma.size(); ++c) {
        const double scale = gamma[c] / std::sqrt(double{variance[c]} + double{epsilon});
        result.scale.push_back(static_cast<float>(scale));
        result.offset.push_back(static_cast<float>(beta[c] - mean[c] * scale));
    }
    return result;
}

void BatchNormalization::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                                  std::uint32_t batch, float* output) const {
    const Shape& shape = only_input(shapes);
    const Affine by_channel = affine();
    const std::size_t pixels = batch * (std::size_t{shape.height} * shape.width);
    const float* input = inputs[0];
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        for (std::size_t c = 0; c < shape.channels; ++c) {
            *output++ = *input++ * by_channel.scale[c] + by_channel.offset[c];
        }
    }
}

}  // namespace systole::graph

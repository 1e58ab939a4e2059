#include "compiler/ir/feature_map.h"

#include <fmt/format.h>

#include "compiler/ir/model_error.h"

namespace systole::ir {
namespace {

constexpr std::size_t image_rank = 4;

}  // namespace

bool is_feature_map(const Shape& shape, std::uint32_t batch) {
    if (shape.rank() == 1) return batch == 1;
    return shape.rank() >= 2 && shape.rank() <= image_rank && shape[0] == batch;
}

FeatureMap feature_map(const Shape& shape, std::uint32_t batch) {
    if (!is_feature_map(shape, batch)) {
        throw ModelError(fmt::format(
            "its shape is {}; it must be a vector or an image of batch {}, others are not supported",
            to_text(shape), batch));
    }
    const std::size_t rank = shape.rank();
    return {.height = rank == image_rank ? shape[1] : 1,
            .width = rank >= image_rank - 1 ? shape[rank - 2] : 1,
            .channels = shape[rank - 1]};
}

Shape image_shape(const FeatureMap& map, std::uint32_t batch) {
    return {batch, map.height, map.width, map.channels};
}

Shape vector_shape(std::uint32_t channels, std::uint32_t batch) {
    return {batch, channels};
}

std::string to_text(const FeatureMap& map) {
    return fmt::format("{}x{}x{}", map.height, map.width, map.channels);
}

std::string map_text(const Shape& shape) {
    return is_feature_map(shape) ? to_text(feature_map(shape)) : to_text(shape);
}

}  // namespace systole::ir

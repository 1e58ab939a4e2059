#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/shape.h"

namespace systole::ir {

/// A tensor of one inference as the chip sees it: an image in height, width, channel order. A vector is
/// 1 x 1 x channels.
struct FeatureMap {
    std::uint32_t height = 1;
    std::uint32_t width = 1;
    std::uint32_t channels = 1;

    constexpr std::uint64_t elements() const { return std::uint64_t{height} * width * channels; }
    constexpr bool is_vector() const { return height == 1 && width == 1; }
    bool operator==(const FeatureMap&) const = default;
};

/// A shape of this batch as an image: [batch, height, width, channels], [batch, width, channels], [batch,
/// channels] or, if it is 1, [channels]. Throws ModelError for any other.
FeatureMap feature_map(const Shape& shape, std::uint32_t batch = 1);

/// Whether feature_map has a result for the shape.
bool is_feature_map(const Shape& shape, std::uint32_t batch = 1);

/// [batch, height, width, channels].
Shape image_shape(const FeatureMap& map, std::uint32_t batch = 1);
/// [batch, channels].
Shape vector_shape(std::uint32_t channels, std::uint32_t batch = 1);

/// "28x28x1", height first.
std::string to_text(const FeatureMap& map);
/// A shape for messages: as a feature map if it is one, else with all extents.
std::string map_text(const Shape& shape);

}  // namespace systole::ir

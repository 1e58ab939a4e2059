#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/input/images.h"
#include "sim/run/host.h"

namespace systole::run {

/// An image of the input as a picture, and what the network said of it.
struct Picture {
    std::uint64_t index = 0;  ///< in the input
    std::uint32_t prediction = 0;
    std::optional<std::uint32_t> label;
    std::optional<float> probability;  ///< of the prediction; absent where outputs are no probabilities
    std::vector<std::uint8_t> pixels;  ///< height x width x channels
};

struct Pictures {
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::uint32_t channels = 0;  ///< 1, or 3: red, green, blue
    std::vector<Picture> pictures;
    std::uint64_t left_out = 0;  ///< images that are not among them
};

/// Some of the images, in their order, but those with another label than the prediction first: as many as a
/// page can show. None where the images are no pictures, of 1 or 3 channels, or are too large, or where there
/// are no predictions. Floating-point values are stretched from each picture's smallest to its largest.
/// `labels` are empty or as many as images.
Pictures choose_pictures(const input::Images& images, const Outputs& outputs,
                         std::span<const std::uint32_t> labels, bool are_probabilities);

}  // namespace systole::run

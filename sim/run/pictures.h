#pragma once

#include <cstdint>
#include <span>

#include "sim/run/input/images.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// Some of the images, as many as a page can show: first those whose label differs from the prediction, then
/// the others, each in their order. None if the images do not have 1 or 3 channels, if they are too large, or
/// if there are no predictions. Floating-point values are scaled from the range of each picture to 0..255.
/// `labels` are empty or as many as images.
Pictures choose_pictures(const input::Images& images, const Outputs& outputs,
                         std::span<const std::uint32_t> labels, bool are_probabilities);

}  // namespace systole::run

#pragma once

#include <cstdint>
#include <span>

#include "sim/run/input/images.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// Some of the images, in their order, but those with another label than the prediction first: as many as a
/// page can show. None where the images are no pictures, of 1 or 3 channels, or are too large, or where there
/// are no predictions. Floating-point values are stretched from each picture's smallest to its largest.
/// `labels` are empty or as many as images.
Pictures choose_pictures(const input::Images& images, const Outputs& outputs,
                         std::span<const std::uint32_t> labels, bool are_probabilities);

}  // namespace systole::run

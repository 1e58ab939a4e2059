#pragma once

#include <cstdint>

#include "compiler/ir/window.h"
#include "sim/run/images.h"

namespace systole::run {

/// Inputs that look drawn at random, each value as likely as any other; the same from the same seed on every
/// machine. Pixels 0 to 255, or, where the network takes 16 bits, real numbers between -1 and 1. Throws
/// InputError where they take too much memory.
NamedImages random_images(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed,
                          bool takes_16_bits);

}  // namespace systole::run

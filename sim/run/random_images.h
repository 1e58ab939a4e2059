#pragma once

#include <cstdint>

#include "compiler/ir/window.h"
#include "sim/run/images.h"

namespace systole::run {

/// Pseudo-random inputs with uniformly distributed values; a seed gives the same inputs on every machine.
/// Values are pixels from 0 to 255, or real numbers between -1 and 1 if the network's input has 16 bits.
/// Throws InputError if they take too much memory.
NamedImages random_images(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed,
                          bool takes_16_bits);

}  // namespace systole::run

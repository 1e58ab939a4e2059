#pragma once

#include <cstdint>

#include "compiler/mapping/network.h"

namespace systole::schedule {

/// Throws ModelError if a sum of a layer with known weights may need more than `sum_bits` bits, whatever the
/// network's inputs are: on the chip it would wrap around. Layers whose weights are unknown pass.
void check_sums(const mapping::Network& network, std::uint32_t sum_bits);

}  // namespace systole::schedule

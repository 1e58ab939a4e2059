#pragma once

#include <cstdint>

#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// Throws ModelError if a sum of a layer with known weights may need more than `sum_bits` bits, whatever the
/// network's inputs are: on the chip it would wrap around. Layers whose weights are unknown pass.
void check_sums(const Network& network, std::uint32_t sum_bits);

}  // namespace systole::tpu_v1

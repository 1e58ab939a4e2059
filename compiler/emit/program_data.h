#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "hw/isa/program.h"

namespace systole::emit {

/// The tiles of all layers, in the order the schedule numbered them: that of their first use. Each tile is
/// in it once, however often it is fetched.
std::vector<isa::WeightTile> weight_image(const mapping::Network& network,
                                          const schedule::Schedule& schedule);

/// What the unified buffer's constant rows hold: requantization parameters (int32 bias, int32 multiplier,
/// int8 shift: three arrays, little endian, packed) and lookup tables, each at the row the schedule gave.
std::vector<std::uint8_t> constant_rows(const mapping::Network& network, const schedule::Schedule& schedule);

}  // namespace systole::emit

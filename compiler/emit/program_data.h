#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "hw/isa/program.h"

namespace systole::emit {

/// The tiles of all layers in the schedule's numbering, which is the order of first use. A tile that is
/// fetched several times occurs once.
std::vector<isa::WeightTile> weight_image(const mapping::Network& network,
                                          const schedule::Schedule& schedule);

/// The contents of the unified buffer's constant rows: requantization parameters (int32 bias, int32
/// multiplier, int8 shift: three arrays, little endian, packed) and lookup tables, each at the row that the
/// schedule assigned.
std::vector<std::uint8_t> constant_rows(const mapping::Network& network, const schedule::Schedule& schedule);

}  // namespace systole::emit

#pragma once

#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "hw/isa/program.h"

namespace systole::emit {

/// The tiles of all layers, in the order the schedule numbered them: that of their first use. Each tile is
/// in it once, however often it is fetched.
std::vector<isa::WeightTile> weight_image(const mapping::Network& network,
                                          const schedule::Schedule& schedule);

}  // namespace systole::emit

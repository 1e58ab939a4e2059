#pragma once

#include <vector>

#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::hw {

/// Why the array is idle, or active with cells that do nothing, in the order in which a report lists them.
/// `with_host`: the program has work for the host.
std::vector<machine::CycleCause> idle_causes(machine::Family family, bool with_host);

}  // namespace systole::hw

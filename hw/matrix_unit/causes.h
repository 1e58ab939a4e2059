#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::hw {

/// The path of the counter of a reason for which no rows enter the array, such as `raw`.
std::string counter_of_reason(std::string_view name);

/// For what else the array waits where the program has it.
struct PossibleWaits {
    bool host = false;         ///< work of the host
    bool collectives = false;  ///< sums and moves over several cores
};

/// Why the array is idle, or active with cells that do nothing, in the order in which a report lists them.
std::vector<machine::CycleCause> idle_causes(machine::Family family, PossibleWaits waits);

}  // namespace systole::hw

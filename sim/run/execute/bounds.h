#pragma once

#include "hw/machine/unit_description.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The array's bound with every cell useful in every cycle, which is of the network and no unit: from the
/// record's counters, program and machine.
machine::Bound macs_bound(const RunRecord& record);

}  // namespace systole::run

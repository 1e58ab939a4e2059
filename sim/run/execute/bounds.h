#pragma once

#include "sim/run/record/record.h"

namespace systole::run {

/// The bounds of a run, from the record's counters, program and machine.
RunBounds bounds_of(const RunRecord& record);

}  // namespace systole::run

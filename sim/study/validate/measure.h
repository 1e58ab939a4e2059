#pragma once

#include "sim/run/record/record.h"
#include "sim/study/validate/measurement.h"

namespace systole::validate {

/// What is compared of a run that noted its phases.
Measurement measurement_of(const run::RunRecord& record);

}  // namespace systole::validate

#pragma once

#include "sim/study/validate/formulas.h"
#include "sim/study/validate/setup.h"

/// Null models that are sums of constants times terms (null_models/linear.h), which stand beside ours: from
/// published numbers and the shapes of layers. No run, no machine file and no compiler has a part in them.
namespace systole::validate {

/// Fits the constants of each of the target's null models to all workloads, and once without each of them.
/// The formulas know NAME.constants.CONSTANT, and of the errors NAME.errors.ROW.WORKLOAD and, of the workload
/// that is left out, NAME.left_out.ROW.WORKLOAD; NAME.mean, .worst, .others_mean and .others_worst are of
/// their sizes. Throws ConfigError.
void know_null_models(const Setup& setup, Formulas& formulas);

}  // namespace systole::validate

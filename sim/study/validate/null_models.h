#pragma once

#include <string>
#include <vector>

#include "sim/study/validate/published.h"
#include "sim/study/validate/simulate.h"

/// Predictions of cycles that need no simulator. What does not predict better than these has not learnt much
/// about the chip.
namespace systole::validate {

struct NullModel {
    std::string name;
    std::string constant;         ///< its fitted constant, with unit; empty: none
    ByWorkload<double> errors{};  ///< of total cycles, signed
    double mean = 0.0;            ///< absolute
};

/// The cycles of a batch if in each layer nothing counted but the longer of two: streaming its rows through
/// the array, or fetching its weight tiles at the machine's bandwidth.
double bound_cycles(const run::RunRecord& record);

/// The bound alone; the bound times a constant; and the bound and constant cycles for each layer with
/// weights. Constants have the least mean absolute error. `records` are the workloads on a machine with
/// published parameters, `useful_percent` is row 2 of Table 3.
std::vector<NullModel> null_models(const ByWorkload<double>& useful_percent,
                                   const ByWorkload<run::RunRecord>& records);

}  // namespace systole::validate

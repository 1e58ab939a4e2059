#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/simulate.h"
#include "sim/study/validate/target.h"

/// The free parameters of the machine, fitted to published cycles.
namespace systole::validate {

/// Values in the order of fit_parameters, the same for all workloads.
using Parameters = std::array<double, fit_parameters.size()>;

machine::MachineConfig with(machine::MachineConfig machine, const Parameters& parameters);
Parameters parameters_of(const machine::MachineConfig& machine);

/// Our cycles over the chip's, minus 1. For the same multiply-accumulates, cycles are inversely proportional
/// to row 2 of Table 3.
double cycles_error(double published_useful_percent, const run::RunRecord& ours);

/// Errors of total cycles, as signed fractions.
struct CyclesErrors {
    ByWorkload<double> by_workload{};
    double mean = 0.0;     ///< absolute
    double largest = 0.0;  ///< absolute
};
CyclesErrors cycles_errors(const ByWorkload<double>& useful_percent, const ByWorkload<run::RunRecord>& ours);

/// Parameters that were fitted to some workloads.
struct Fit {
    Workloads fitted;
    Parameters parameters{};
    ByWorkload<double> errors{};  ///< of total cycles, signed, of all workloads
    double fitted_error = 0.0;    ///< mean absolute
    double others_error = 0.0;    ///< mean absolute of those not fitted; 0 if there are none
};

struct Fits {
    Fit all;                   ///< to all six
    std::vector<Fit> splits;   ///< to each three of the six
    double others_mean = 0.0;  ///< of others_error
    std::size_t simulations = 0;
};

/// Finds, for each three of the six workloads and for all six, the parameters with the least loss, by the
/// errors of total cycles: first on the grid, then around the best point of each set until no neighbour is
/// better, with steps that are halved as often as the grid says. All sets share the simulations.
Fits fit_splits(const FitGrid& grid, const machine::MachineConfig& machine,
                const ByWorkload<double>& useful_percent, const ByWorkload<run::RunSpec>& workloads,
                const Simulate& simulate);

/// The same for all six alone.
Fit fit(const FitGrid& grid, const machine::MachineConfig& machine, const ByWorkload<double>& useful_percent,
        const ByWorkload<run::RunSpec>& workloads, const Simulate& simulate);

}  // namespace systole::validate

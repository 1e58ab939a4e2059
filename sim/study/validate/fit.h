#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/runs.h"
#include "sim/study/validate/setup.h"

/// The free parameters of the machine, fitted to published figures.
namespace systole::validate {

/// Indices into the list `workloads`.
using Workloads = std::vector<std::size_t>;

/// Values in the order of the grid's axes, the same for all workloads.
using Parameters = std::vector<double>;
/// Of the axes' keys. Throws ConfigError where the machine has no such number.
Parameters parameters_of(const machine::MachineConfig& machine, const FitGrid& grid);
/// The error of a workload in a row of the grid, signed, at these parameters.
struct FitTask {
    std::size_t workload = 0;
    Parameters parameters;
    std::size_t row = 0;
};
/// Gives the error of each task.
using Errors = std::function<std::vector<double>(const std::vector<FitTask>&)>;

/// Parameters that were fitted to some workloads.
struct Fit {
    Workloads fitted;
    Parameters parameters;
    std::vector<double> errors;  ///< signed, of all workloads of the first row, then of the next
    double fitted_error = 0.0;   ///< mean absolute
    double others_error = 0.0;   ///< mean absolute of those not fitted; 0 if there are none
    double fitted_worst = 0.0;   ///< largest absolute
    double others_worst = 0.0;   ///< the same of those not fitted
    Number null_error = {};      ///< of the others, of the null model whose factor is fitted to the same
};

struct Fits {
    Fit all;                   ///< to all workloads
    std::vector<Fit> splits;   ///< to each set of the grid's size
    Number others_mean = {};   ///< of others_error; absent without splits
    Number others_worst = {};  ///< the largest of others_worst
    Number null_others_mean = {};
    std::size_t simulations = 0;  ///< of the machine; of a fit without one, its tasks
};

/// The mean absolute error of the workloads to which the one factor of a null model is not fitted, mean of
/// all sets of so many.
double null_others_mean(const std::vector<double>& measured, const std::vector<double>& predicted,
                        std::size_t size);

/// Finds, for all workloads and for each set of `grid.set_size` of them, each with all of the grid's rows,
/// the parameters with the least loss: first on the grid, then around the best point of each set until no
/// neighbour is better, with steps that are halved as often as the grid says. All sets share the tasks.
Fits fit(const FitGrid& grid, std::size_t workloads, const Errors& errors);
/// The same for these sets, of which the last has all workloads.
Fits fit(const FitGrid& grid, std::size_t workloads, const Errors& errors,
         const std::vector<Workloads>& sets);

/// The same by simulations of the target's machine. With `splits` false, to all workloads alone.
Fits fit(const Setup& setup, Runs& runs, Formulas& formulas, bool splits = true);

/// Lets the formulas know `fit.error` and `fit.worst` (of all workloads), `fit.others_mean`,
/// `fit.others_worst`, `fit.null_others_mean` and `fit.simulations`; of rows with names also
/// `fit.errors.ROW.WORKLOAD`, and `fit.left_out.ROW.WORKLOAD` where each workload is left out by one set
/// alone.
void know_fits(const Fits& fits, const Setup& setup, Formulas& formulas);

}  // namespace systole::validate

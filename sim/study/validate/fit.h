#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/simulations.h"
#include "sim/study/validate/target.h"

/// The machine's free parameters, fitted to published cycles.
namespace systole::validate {

/// Global: the same for all workloads.
struct Parameters {
    double weight_memory_gb_per_s = 0.0;
    double activation_latency_ns = 0.0;
    double host_latency_ns = 0.0;

    bool operator==(const Parameters&) const = default;
};

machine::MachineConfig with(machine::MachineConfig machine, const Parameters& parameters);
Parameters parameters_of(const machine::MachineConfig& machine);

/// Our cycles over the chip's, less one. For the same MACs, cycles go as one over row 2 of Table 3.
double cycles_error(double published_useful_percent, const Measurement& ours);

/// Parameters that were fitted to some workloads.
struct Fit {
    std::vector<std::size_t> fitted;
    Parameters parameters;
    ByWorkload<double> errors{};  ///< of total cycles, signed, of all workloads
    double fitted_error = 0.0;    ///< mean absolute
    double held_out_error = 0.0;  ///< mean absolute of the others; 0 where there are none
};

struct Fits {
    Fit all;                  ///< to all six
    std::vector<Fit> splits;  ///< to each three of the six
    double held_out_mean = 0.0;
    std::size_t simulations = 0;
};

/// Finds, for each set of workloads, the parameters with the least mean absolute error of total cycles: first
/// on the grid, then around each set's best until no neighbour is better, with steps halved as often as the
/// grid says. A set knows all that the others have simulated.
Fits fit(const FitGrid& grid, const machine::MachineConfig& machine, const ByWorkload<double>& useful_percent,
         const ByWorkload<NetworkId>& networks, Simulator& simulator);

}  // namespace systole::validate

#pragma once

#include <cstdint>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/view/energy/run_energy.h"

namespace systole::energy {

/// Joules by window of `window_cycles`, from cycle 0; the last window ends with the run.
struct PowerOverTime {
    Cycle window_cycles = 0;
    std::vector<Joules> windows;
    std::vector<double> seconds;  ///< of each window
};

/// A run's energy over its time, in `windows` windows of equal length, or fewer if the run has fewer cycles.
/// The static energy is spread evenly over all cycles. The energy of an event is spread, for each tag, evenly
/// over the cycles in which its unit worked for that tag, or over the whole run if no such cycles are known.
/// The windows sum to the energy of the run.
PowerOverTime power_over_time(const Consumers& consumers, const machine::MachineConfig& machine,
                              const run::Work& work, Cycle cycles, std::uint32_t windows);

}  // namespace systole::energy

#pragma once

#include <cstdint>
#include <span>
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

/// A run's energy over its time, in `windows` windows of equal length, fewer where it has fewer cycles. The
/// static part is spread evenly over all cycles, an event's energy of each tag evenly over the cycles in
/// which its unit worked for that tag (over the run, where it is known of none): the windows' sum is the
/// run's energy.
PowerOverTime power_over_time(const std::vector<Event>& events, const machine::MachineConfig& machine,
                              std::span<const run::WorkInterval> intervals, Cycle cycles,
                              std::uint32_t windows);

}  // namespace systole::energy

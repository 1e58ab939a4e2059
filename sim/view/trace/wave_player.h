#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hw/common/clock.h"
#include "sim/view/trace/wave_signals.h"

namespace systole::trace {

/// In a file of waves, cycle n of the chip is at n nanoseconds, for every clock: edges are exact, and the
/// time in a viewer is the cycle.
inline constexpr double cycle_nanoseconds = 1.0;

/// Plays the signals in a SystemC simulation of its own, which traces them into the file: in cycles [from,
/// to), with a clock that rises at the beginning of each cycle. Before `from` no signal is driven. Throws
/// OutputError, with `name` as the file's, if the file cannot be written.
///
/// A second simulation is necessary because SystemC traces current values, but much about a cycle is known
/// only later: the reason for an idle cycle is known when the next stream enters. The chip's simulation is
/// unchanged.
void play(const std::vector<std::unique_ptr<WaveSignal>>& signals, Cycle from, Cycle to,
          const std::filesystem::path& file, const std::string& name);

}  // namespace systole::trace

#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "hw/common/clock.h"
#include "sim/view/trace/wave_signals.h"

namespace systole::trace {

/// Cycle n of the chip is at n nanoseconds in a file of waves, whatever its clock: edges are exact, and a
/// viewer's time is the cycle.
inline constexpr double cycle_nanoseconds = 1.0;

/// Plays the signals in a SystemC simulation of its own, which traces them into the file: in cycles [from,
/// to), beside a clock that rises where a cycle begins. Before `from` nobody drives anything. Throws
/// TraceError where the file cannot be written.
///
/// A simulation of its own, because much of what happened in a cycle is known only later (what an idle cycle
/// lacked, when a stream has entered), and SystemC traces what is true now. The chip's simulation stays as
/// it is.
void play(const std::vector<std::unique_ptr<WaveSignal>>& signals, Cycle from, Cycle to,
          const std::filesystem::path& file);

}  // namespace systole::trace

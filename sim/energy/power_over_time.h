#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/trace.h"
#include "hw/machine/machine_config.h"
#include "sim/energy/run_energy.h"

namespace systole::energy {

/// A unit at work for one tag, in cycles [begin, end).
struct Interval {
    Activity activity = Activity::Any;
    hw::Tag tag = 0;
    Cycle begin = 0;
    Cycle end = 0;

    bool operator==(const Interval&) const = default;
};

/// Notes when the units of a run worked.
class ActivityRecorder final : public hw::TraceListener {
public:
    /// `shift_cycles` are those of a tile from the FIFO into the array.
    ActivityRecorder(std::vector<Interval>& intervals, Cycle shift_cycles)
        : intervals_(intervals), shift_cycles_(shift_cycles) {}

    void instruction(const hw::InstructionTimes& times) override;
    void tile(const hw::TileTimes& times) override;

private:
    std::vector<Interval>& intervals_;
    const Cycle shift_cycles_;
    Cycle last_whole_ = 0;  ///< the memory delivers one tile after the other
};

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
                              std::span<const Interval> intervals, Cycle cycles, std::uint32_t windows);

}  // namespace systole::energy

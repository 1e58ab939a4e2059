#include "sim/view/energy/power_over_time.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/arithmetic.h"

namespace systole::energy {
namespace {

using Work = std::pair<Activity, run::Tag>;

/// Spreads energy over windows of equal length.
class Windows {
public:
    Windows(Cycle cycles, Cycle window_cycles)
        : window_cycles_(window_cycles), joules_(divide_up(cycles, window_cycles)) {}

    /// Adds this energy to every cycle of [begin, end).
    void add(const Joules& a_cycle, Cycle begin, Cycle end) {
        while (begin < end) {
            const Cycle window = begin / window_cycles_;
            const Cycle until = std::min(end, (window + 1) * window_cycles_);
            for (std::size_t i = 0; i < consumer_count; ++i) {
                const auto consumer = static_cast<Consumer>(i);
                joules_[window][consumer] += a_cycle[consumer] * static_cast<double>(until - begin);
            }
            begin = until;
        }
    }

    std::vector<Joules> take() && { return std::move(joules_); }

private:
    const Cycle window_cycles_;
    std::vector<Joules> joules_;
};

/// Leaves out work after the run's end, such as the shift of a tile that nothing uses.
run::WorkInterval within_run(run::WorkInterval interval, Cycle cycles) {
    interval.end = std::min(interval.end, cycles);
    interval.begin = std::min(interval.begin, interval.end);
    return interval;
}

}  // namespace

PowerOverTime power_over_time(const std::vector<Event>& events, const machine::MachineConfig& machine,
                              std::span<const run::WorkInterval> intervals, Cycle cycles,
                              std::uint32_t windows) {
    PowerOverTime result;
    if (cycles == 0 || windows == 0) return result;
    result.window_cycles = divide_up(cycles, windows);
    Windows spread(cycles, result.window_cycles);

    std::map<Work, Cycle> worked;
    run::Tag last_tag = 0;
    for (const run::WorkInterval& whole : intervals) {
        const run::WorkInterval interval = within_run(whole, cycles);
        if (interval.begin < interval.end) {
            worked[{interval.activity, interval.tag}] += interval.end - interval.begin;
        }
    }
    for (const Event& event : events) last_tag = std::max(last_tag, event.counter->last_tag());

    Joules every_cycle = joules({}, machine, 1);
    std::map<Work, Joules> working_cycle;
    for (const Event& event : events) {
        for (std::uint32_t number = 0; number <= last_tag; ++number) {
            const auto tag = static_cast<run::Tag>(number);
            const double amount = event.joules_each * static_cast<double>(event.counter->value(tag));
            if (!(amount > 0.0)) continue;
            const Work work{event.during, tag};
            const auto found = worked.find(work);
            if (found == worked.end()) {
                every_cycle[event.consumer] += amount / static_cast<double>(cycles);
            } else {
                working_cycle[work][event.consumer] += amount / static_cast<double>(found->second);
            }
        }
    }
    spread.add(every_cycle, 0, cycles);
    for (const run::WorkInterval& whole : intervals) {
        const run::WorkInterval interval = within_run(whole, cycles);
        const auto found = working_cycle.find({interval.activity, interval.tag});
        if (found != working_cycle.end()) spread.add(found->second, interval.begin, interval.end);
    }
    result.windows = std::move(spread).take();
    for (std::size_t i = 0; i < result.windows.size(); ++i) {
        const Cycle begin = i * result.window_cycles;
        const Cycle length = std::min(cycles, begin + result.window_cycles) - begin;
        result.seconds.push_back(static_cast<double>(length) / static_cast<double>(machine.clock_hz()));
    }
    return result;
}

}  // namespace systole::energy

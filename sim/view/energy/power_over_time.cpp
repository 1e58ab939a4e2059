#include "sim/view/energy/power_over_time.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/arithmetic.h"

namespace systole::energy {
namespace {

/// An activity by its number, absent if none is known, for a tag.
using Work = std::pair<std::optional<std::size_t>, run::Tag>;

/// Spreads energy over windows of equal length.
class Windows {
public:
    Windows(Cycle cycles, Cycle window_cycles, const std::vector<Consumer>& consumers)
        : window_cycles_(window_cycles), joules_(divide_up(cycles, window_cycles), Joules(consumers)) {}

    /// Adds this energy to every cycle of [begin, end).
    void add(const Joules& a_cycle, Cycle begin, Cycle end) {
        while (begin < end) {
            const Cycle window = begin / window_cycles_;
            const Cycle until = std::min(end, (window + 1) * window_cycles_);
            for (std::size_t consumer = 0; consumer < a_cycle.size(); ++consumer) {
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

PowerOverTime power_over_time(const Consumers& consumers, const machine::MachineConfig& machine,
                              const run::Work& work, Cycle cycles, std::uint32_t windows) {
    PowerOverTime result;
    if (cycles == 0 || windows == 0) return result;
    result.window_cycles = divide_up(cycles, windows);
    Windows spread(cycles, result.window_cycles, consumers.all());

    std::map<Work, Cycle> worked;
    run::Tag last_tag = 0;
    for (const run::WorkInterval& whole : work.intervals) {
        const run::WorkInterval interval = within_run(whole, cycles);
        if (interval.begin < interval.end) {
            worked[Work{interval.activity, interval.tag}] += interval.end - interval.begin;
        }
    }
    for (const Consumers::Event& event : consumers.events())
        last_tag = std::max(last_tag, event.counter->last_tag());

    Joules every_cycle(consumers.all());
    for (std::size_t i = 0; i < every_cycle.size(); ++i) {
        every_cycle[i] = every_cycle.consumer(i).static_watts / static_cast<double>(machine.clock_hz());
    }
    std::map<Work, Joules> working_cycle;
    for (const Consumers::Event& event : consumers.events()) {
        const auto during = std::ranges::find(work.activities, event.during);
        std::optional<std::size_t> activity;
        if (during != work.activities.end()) {
            activity = during - work.activities.begin();
        } else if (!event.during.empty() && !work.activities.empty()) {
            throw std::logic_error("energy during " + event.during + ", which is no activity");
        }
        for (std::uint32_t number = 0; number <= last_tag; ++number) {
            const auto tag = static_cast<run::Tag>(number);
            const double amount = event.joules_each * static_cast<double>(event.counter->value(tag));
            if (!(amount > 0.0)) continue;
            const Work its{activity, tag};
            const auto found = worked.find(its);
            if (found == worked.end()) {
                every_cycle[event.consumer] += amount / static_cast<double>(cycles);
            } else {
                working_cycle.try_emplace(its, consumers.all()).first->second[event.consumer] +=
                    amount / static_cast<double>(found->second);
            }
        }
    }
    spread.add(every_cycle, 0, cycles);
    for (const run::WorkInterval& whole : work.intervals) {
        const run::WorkInterval interval = within_run(whole, cycles);
        const auto found = working_cycle.find(Work{interval.activity, interval.tag});
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

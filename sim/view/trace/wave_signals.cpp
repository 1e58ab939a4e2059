#include "sim/view/trace/wave_signals.h"

#include <algorithm>
#include <stdexcept>

namespace systole::trace {

void DrivenSignal::drive(const hw::Ramp& ramp) {
    const bool is_shown = ramp.begin < ramp.end && ramp.begin < window_.to && ramp.end > window_.from;
    if (!is_shown) return;
    if (!ramps_.empty()) {
        hw::Ramp& last = ramps_.back();
        if (ramp.begin < last.end) throw std::logic_error(name() + " is driven twice in the same cycle");
        const bool goes_on = last.step == 0 && ramp.step == 0 && last.end == ramp.begin &&
                             last.at(last.begin) == ramp.at(ramp.begin);
        if (goes_on) {
            last.end = ramp.end;
            return;
        }
    }
    ramps_.push_back(ramp);
}

std::optional<std::uint64_t> DrivenSignal::at(Cycle cycle) {
    while (next_ < ramps_.size() && ramps_[next_].end <= cycle) ++next_;
    if (next_ == ramps_.size() || cycle < ramps_[next_].begin) return rest_;
    return ramps_[next_].at(cycle);
}

void LevelSignal::note(Cycle cycle, std::vector<Cycle>& cycles, std::uint64_t& earlier) const {
    if (cycle < window_.from) {
        ++earlier;
    } else if (cycle < window_.to) {
        cycles.push_back(cycle);
    }
}

void LevelSignal::finish() {
    std::sort(come_.begin(), come_.end());
    std::sort(gone_.begin(), gone_.end());
}

std::optional<std::uint64_t> LevelSignal::at(Cycle cycle) {
    while (next_come_ < come_.size() && come_[next_come_] <= cycle) ++next_come_;
    while (next_gone_ < gone_.size() && gone_[next_gone_] <= cycle) ++next_gone_;
    return first_ + next_come_ - first_gone_ - next_gone_;
}

void RegisterSignal::put(Cycle cycle, std::int32_t value) {
    if (value == last_ || cycle >= window_.to) return;
    last_ = value;
    if (cycle < window_.from) {
        value_ = value;
    } else {
        changes_.push_back({.at = cycle, .value = value});
    }
}

std::optional<std::uint64_t> RegisterSignal::at(Cycle cycle) {
    for (; next_ < changes_.size() && changes_[next_].at <= cycle; ++next_) value_ = changes_[next_].value;
    return static_cast<std::uint32_t>(value_);
}

}  // namespace systole::trace

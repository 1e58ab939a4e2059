#include "hw/common/clock.h"

namespace systole::hw {

sc_core::sc_time Clock::delay_until(Cycle cycle) const {
    const sc_core::sc_time then = period_ * static_cast<double>(cycle);
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    return then > now ? then - now : sc_core::SC_ZERO_TIME;
}

void Clock::wait_until(Cycle cycle) const {
    const sc_core::sc_time delay = delay_until(cycle);
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    if (held_back_) {
        for (unsigned deltas = held_back_(); deltas > 0; --deltas) sc_core::wait(sc_core::SC_ZERO_TIME);
    }
}

void Clock::wait_for_settled() const {
    const sc_core::sc_time settled = period_ * static_cast<double>(now()) + period_ / 2.0;
    if (settled > sc_core::sc_time_stamp()) sc_core::wait(settled - sc_core::sc_time_stamp());
}

}  // namespace systole::hw

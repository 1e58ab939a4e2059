#include "hw/common/clock.h"

#include <stdexcept>
#include <string>

namespace systole::hw {

sc_core::sc_time Clock::beginning_of(Cycle cycle) const {
    std::uint64_t value = 0;
    if (__builtin_mul_overflow(period_.value(), cycle, &value)) {
        throw std::overflow_error("cycle " + std::to_string(cycle) +
                                  " is later than 64 bits of simulated time hold");
    }
    return sc_core::sc_time::from_value(value);
}

sc_core::sc_time Clock::delay_until(Cycle cycle) const {
    const sc_core::sc_time then = beginning_of(cycle);
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    return then > now ? then - now : sc_core::SC_ZERO_TIME;
}

void Clock::wait_until(Cycle cycle) const {
    const sc_core::sc_time delay = delay_until(cycle);
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    apply_test_delay();
}

void Clock::wait(const sc_core::sc_event& event) const {
    sc_core::wait(event);
    apply_test_delay();
}

void Clock::wait(const sc_core::sc_time& longest, const sc_core::sc_event& event) const {
    sc_core::wait(longest, event);
    apply_test_delay();
}

void Clock::wait_test_deltas() const {
    for (unsigned deltas = test_delta_delay_(); deltas > 0; --deltas) sc_core::wait(sc_core::SC_ZERO_TIME);
}

void Clock::wait_for_settled() const {
    const std::uint64_t into_cycle = sc_core::sc_time_stamp().value() % period_.value();
    const std::uint64_t settled = period_.value() / 2;
    if (settled > into_cycle) sc_core::wait(sc_core::sc_time::from_value(settled - into_cycle));
    apply_test_delay();
}

void Clock::wait_for_end_of(Cycle cycle) const {
    const sc_core::sc_time end = beginning_of(cycle + 1) - sc_core::sc_get_time_resolution();
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    if (end > now) sc_core::wait(end - now);
}

}  // namespace systole::hw

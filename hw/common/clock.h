#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>

#include "base/cycle.h"

namespace systole::hw {

/// The core's clock: whole cycles for the units, SystemC time underneath. Cycle n begins at n periods.
///
/// No process runs on the clock: a unit computes the cycle at which something can next happen and
/// waits for that.
class Clock {
public:
    /// The period is at least four units of SystemC's time resolution: `wait_for_settled` needs an instant in
    /// the middle of a cycle and `wait_for_end_of` one at its end.
    explicit Clock(sc_core::sc_time period = sc_core::sc_time(1, sc_core::SC_NS)) : period_(period) {
        sc_assert(period_.value() >= 4);
    }

    /// The current cycle.
    Cycle now() const { return sc_core::sc_time_stamp().value() / period_.value(); }
    /// Waits until the cycle begins; returns at once if it has begun.
    void wait_until(Cycle cycle) const;
    /// Waits until the middle of this cycle. All processes have then made their requests of this cycle, so
    /// an arbiter that decides between them does not depend on the order in which the kernel runs processes.
    void wait_for_settled() const;
    /// Whether the instant that `wait_for_settled` waits for has come.
    bool settled() const { return sc_core::sc_time_stamp().value() % period_.value() != 0; }
    /// Waits until the last instant of a cycle, after all events of the cycle.
    void wait_for_end_of(Cycle cycle) const;
    /// Returns at the beginning of a cycle: at once, or in the next cycle if this one has settled.
    void wait_for_beginning() const {
        if (settled()) wait_until(now() + 1);
    }

    /// Waits for an event.
    void wait(const sc_core::sc_event& event) const;
    /// Waits for an event, at most as long as given.
    void wait(const sc_core::sc_time& longest, const sc_core::sc_event& event) const;
    /// Waits for the delta cycles that a test asks for (`perturb`). The waits above do this themselves; a
    /// process calls it before its first action.
    void apply_test_delay() const {
        if (test_delta_delay_) wait_test_deltas();
    }

    /// The delay from now to the beginning of a cycle, for SystemC interfaces that take delays; 0 for past
    /// cycles. Throws std::overflow_error if the cycle lies beyond SystemC's 64-bit time.
    sc_core::sc_time delay_until(Cycle cycle) const;
    /// The cycle in which the time now + delay lies.
    Cycle after(const sc_core::sc_time& delay) const {
        return (sc_core::sc_time_stamp() + delay).value() / period_.value();
    }

    /// For tests. The function is called each time a process resumes and returns how many further delta
    /// cycles it waits. Results and cycles of a program must not depend on it.
    void perturb(std::function<unsigned()> test_delta_delay) {
        test_delta_delay_ = std::move(test_delta_delay);
    }

private:
    sc_core::sc_time beginning_of(Cycle cycle) const;
    void wait_test_deltas() const;

    sc_core::sc_time period_;
    std::function<unsigned()> test_delta_delay_;
};

}  // namespace systole::hw

#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>

#include "hw/base/cycle.h"

namespace systole::hw {

/// The core's clock: whole cycles for the units, SystemC time underneath. Cycle n begins at n periods.
///
/// No process runs on the clock: a unit computes the cycle at which something can next happen and
/// waits for that.
class Clock {
public:
    /// The period is at least four of SystemC's units of time: a cycle has an instant in its middle
    /// and one at its end.
    explicit Clock(sc_core::sc_time period = sc_core::sc_time(1, sc_core::SC_NS)) : period_(period) {
        sc_assert(period_.value() >= 4);
    }

    /// The cycle that simulated time lies in.
    Cycle now() const { return sc_core::sc_time_stamp().value() / period_.value(); }
    /// Waits for the beginning of a cycle; returns at once when that is past.
    void wait_until(Cycle cycle) const;
    /// Waits until every process has done what it does at the beginning of this cycle: who decides
    /// between requests of one cycle has seen them all, in whatever order the kernel ran their makers.
    void wait_for_settled() const;
    /// Whether this cycle is past the instant `wait_for_settled` waits for.
    bool settled() const { return sc_core::sc_time_stamp().value() % period_.value() != 0; }
    /// Waits for the last instant of a cycle: everything that happens in it has happened.
    void wait_for_end_of(Cycle cycle) const;
    /// Goes on at the beginning of a cycle: at once, or of the next one when this one has settled.
    void wait_for_beginning() const {
        if (settled()) wait_until(now() + 1);
    }

    /// Waits for an event, or for as long, whichever comes first.
    void wait(const sc_core::sc_event& event) const;
    void wait(const sc_core::sc_time& longest, const sc_core::sc_event& event) const;
    /// Lets other processes of this instant go first, where a test says so (`perturb`). For who has not
    /// waited for anything yet.
    void hold_back() const {
        if (held_back_) hold_back_perturbed();
    }

    /// The delay from now to a cycle, for SystemC interfaces that carry one; none to one that is past.
    /// Throws std::overflow_error where SystemC's time does not reach the cycle.
    sc_core::sc_time delay_until(Cycle cycle) const;
    /// The cycle that now + delay lies in.
    Cycle after(const sc_core::sc_time& delay) const {
        return (sc_core::sc_time_stamp() + delay).value() / period_.value();
    }

    /// For tests: called whenever a process goes on, says for how many delta cycles it is held back
    /// further. Nothing a program computes or costs may depend on it.
    void perturb(std::function<unsigned()> held_back) { held_back_ = std::move(held_back); }

private:
    sc_core::sc_time beginning_of(Cycle cycle) const;
    void hold_back_perturbed() const;

    sc_core::sc_time period_;
    std::function<unsigned()> held_back_;
};

}  // namespace systole::hw

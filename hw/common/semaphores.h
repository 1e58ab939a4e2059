#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <systemc>

#include "hw/common/clock.h"
#include "hw/common/order_checker.h"
#include "hw/common/ring_queue.h"

namespace systole::hw {

/// Two units wait for one semaphore or two units signal it. With two waiters it is ambiguous which one
/// resumes; with two signallers, the order of the waiter is ambiguous.
class SharedSemaphore : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The counting semaphores of `sync`. A signal may be given for a later cycle, because a unit knows the
/// completion time of its work once the work has begun. A signal carries the signaller's vector clock.
class Semaphores {
public:
    static constexpr std::size_t count = 256;

    Semaphores(const Clock& clock, OrderChecker& order) : clock_(clock), order_(order) {}

    /// Adds one to the semaphore at cycle `at`, now or later, and not before earlier signals of this unit.
    void signal(std::uint8_t semaphore, std::size_t signaller, Cycle at);
    /// Waits until the semaphore is above zero and subtracts one; returns in the cycle of the signal, with
    /// the number of the unit that signalled. `waiter` is the number of the unit that waits.
    std::size_t wait(std::uint8_t semaphore, std::size_t waiter);

private:
    /// One count.
    struct Signal {
        Cycle at = 0;
        VectorClock comes_after{};  ///< the signaller's when it signalled
    };
    struct Semaphore {
        RingQueue<Signal> signals;  ///< in the order of time
        std::optional<std::size_t> signaller;
        std::optional<std::size_t> waiter;
        sc_core::sc_event signalled;
    };

    /// Makes the unit the semaphore's only unit of a kind. Throws SharedSemaphore if it has another one.
    static void claim(std::optional<std::size_t>& owner, std::size_t unit, std::uint8_t semaphore,
                      const char* kind);

    const Clock& clock_;
    OrderChecker& order_;
    std::array<Semaphore, count> semaphores_;
};

}  // namespace systole::hw

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
#include "hw/common/wait_state.h"

namespace systole::hw {

/// Two units wait for one semaphore: which of them goes on would depend on who came first. Or two signal
/// one: what its waiter comes after would.
class SharedSemaphore : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The counting semaphores of `sync`. A signal may be given for a later cycle: a unit knows when its
/// work will be complete once it has begun. With a count goes what its signaller came after.
class Semaphores {
public:
    static constexpr std::size_t count = 256;

    Semaphores(const Clock& clock, OrderChecker& order) : clock_(clock), order_(order) {}

    /// A unit adds one to the semaphore at cycle `at`, now or later, and not before its signals until now.
    void signal(std::uint8_t semaphore, std::size_t signaller, Cycle at);
    /// Waits until the semaphore is above zero and takes one from it; goes on in the cycle of the
    /// signal. `waiter` is the number of the unit.
    void wait(std::uint8_t semaphore, std::size_t waiter, WaitState& state);

private:
    /// One count.
    struct Signal {
        Cycle at = 0;
        VectorClock comes_after{};  ///< the signaller's when it signalled
    };
    struct Semaphore {
        RingQueue<Signal> signals;  ///< a unit's follow each other in time
        std::optional<std::size_t> signaller;
        std::optional<std::size_t> waiter;
        sc_core::sc_event signalled;
    };

    /// A semaphore's only unit of a kind, now or from now on. Throws SharedSemaphore.
    static void claim(std::optional<std::size_t>& owner, std::size_t unit, std::uint8_t semaphore,
                      const char* kind);

    const Clock& clock_;
    OrderChecker& order_;
    std::array<Semaphore, count> semaphores_;
};

}  // namespace systole::hw

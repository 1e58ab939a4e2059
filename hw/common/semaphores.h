#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <systemc>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/order_checker.h"
#include "hw/common/wait_state.h"

namespace systole::hw {

/// Two units wait for one semaphore: which of them goes on would depend on who came first.
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

    /// A unit adds one to the semaphore at cycle `at`, now or later.
    void signal(std::uint8_t semaphore, std::size_t signaller, Cycle at);
    /// Waits until the semaphore is above zero and takes one from it; goes on in the cycle of the
    /// signal. `waiter` is the number of the unit.
    void wait(std::uint8_t semaphore, std::size_t waiter, WaitState& state);

private:
    /// One count. Counts of one cycle are taken in the order of their signallers' numbers.
    struct Signal {
        Cycle at = 0;
        std::size_t signaller = 0;
        Knowledge knowledge{};

        bool operator>(const Signal& other) const {
            return at != other.at ? at > other.at : signaller > other.signaller;
        }
    };
    struct Semaphore {
        std::priority_queue<Signal, std::vector<Signal>, std::greater<>> signals;  ///< earliest first
        std::optional<std::size_t> waiter;
        sc_core::sc_event signalled;
    };

    const Clock& clock_;
    OrderChecker& order_;
    std::array<Semaphore, count> semaphores_;
};

}  // namespace systole::hw

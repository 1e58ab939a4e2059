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
#include "hw/common/wait_state.h"

namespace systole::hw {

/// Two units wait for one semaphore: which of them goes on would depend on who came first.
class SharedSemaphore : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The counting semaphores of `sync`. A signal may be given for a later cycle: a unit knows when its
/// work will be complete once it has begun.
class Semaphores {
public:
    static constexpr std::size_t count = 256;

    explicit Semaphores(const Clock& clock) : clock_(clock) {}

    /// Adds one to the semaphore at cycle `at`, now or later.
    void signal(std::uint8_t semaphore, Cycle at);
    /// Waits until the semaphore is above zero and takes one from it; goes on in the cycle of the
    /// signal. `waiter` is the number of the unit.
    void wait(std::uint8_t semaphore, std::size_t waiter, WaitState& state);

private:
    struct Semaphore {
        /// The cycles from which on its counts are there, earliest first.
        std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> signals;
        std::optional<std::size_t> waiter;
        sc_core::sc_event signalled;
    };

    const Clock& clock_;
    std::array<Semaphore, count> semaphores_;
};

}  // namespace systole::hw

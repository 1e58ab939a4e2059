#include "hw/common/semaphores.h"

#include <string>

namespace systole::hw {

void Semaphores::signal(std::uint8_t semaphore, std::size_t signaller, Cycle at) {
    Semaphore& chosen = semaphores_[semaphore];
    chosen.signals.push({at, signaller, order_.known(signaller)});
    chosen.signalled.notify(sc_core::SC_ZERO_TIME);
}

void Semaphores::wait(std::uint8_t semaphore, std::size_t waiter, WaitState& state) {
    Semaphore& chosen = semaphores_[semaphore];
    if (chosen.waiter.value_or(waiter) != waiter) {
        throw SharedSemaphore("semaphore " + std::to_string(semaphore) +
                              " has two waiting units; it may have one");
    }
    chosen.waiter = waiter;
    const WaitState::Scope scope(state, "semaphore", semaphore);
    // An earlier signal may come while a later one is waited for.
    while (chosen.signals.empty() || chosen.signals.top().at > clock_.now()) {
        if (chosen.signals.empty()) {
            clock_.wait(chosen.signalled);
        } else {
            clock_.wait(clock_.delay_until(chosen.signals.top().at), chosen.signalled);
        }
    }
    order_.learn(waiter, chosen.signals.top().knowledge);
    chosen.signals.pop();
}

}  // namespace systole::hw

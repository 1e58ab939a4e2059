#include "hw/common/semaphores.h"

#include <string>

namespace systole::hw {

void Semaphores::claim(std::optional<std::size_t>& owner, std::size_t unit, std::uint8_t semaphore,
                       const char* kind) {
    if (owner.value_or(unit) != unit) {
        throw SharedSemaphore("semaphore " + std::to_string(semaphore) + " has two " + kind +
                              " units; it may have one");
    }
    owner = unit;
}

void Semaphores::signal(std::uint8_t semaphore, std::size_t signaller, Cycle at) {
    Semaphore& chosen = semaphores_[semaphore];
    claim(chosen.signaller, signaller, semaphore, "signalling");
    chosen.signals.push_back({at, order_.vector_clock(signaller)});
    chosen.signalled.notify(sc_core::SC_ZERO_TIME);
}

std::size_t Semaphores::wait(std::uint8_t semaphore, std::size_t waiter) {
    Semaphore& chosen = semaphores_[semaphore];
    claim(chosen.waiter, waiter, semaphore, "waiting");
    while (chosen.signals.empty()) clock_.wait(chosen.signalled);
    clock_.wait_until(chosen.signals.front().at);
    order_.merge(waiter, chosen.signals.front().comes_after);
    chosen.signals.pop_front();
    return chosen.signaller.value();
}

}  // namespace systole::hw

#include "hw/common/port_arbiter.h"

#include <algorithm>
#include <utility>

namespace systole::hw {

PortArbiter::PortArbiter(std::vector<std::uint32_t> capacity, bool contended, const Clock& clock)
    : capacity_(std::move(capacity)), contended_(contended), clock_(clock) {
    if (contended_) sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("port_arbiter"));
}

Cycle PortArbiter::acquire(std::size_t user, const std::vector<Need>& needs, WaitState& state) {
    if (!contended_) return 0;
    const WaitState::Scope scope(state, "a memory port");
    const Cycle asked = clock_.now();
    Request request{user, &needs, sc_core::sc_time_stamp(), false, {}};
    if (clock_.settled()) request.eligible += clock_.delay_until(asked + 1);
    requests_.push_back(&request);
    changed_.notify(sc_core::SC_ZERO_TIME);
    while (!request.granted) sc_core::wait(request.event);
    return clock_.now() - asked;
}

void PortArbiter::release(std::size_t user) {
    if (!contended_) return;
    std::erase_if(holdings_, [&](const Holding& holding) {
        return holding.user == user && holding.until == until_released;
    });
    changed_.notify(sc_core::SC_ZERO_TIME);
}

bool PortArbiter::can_grant(const Request& request) const {
    if (request.eligible > sc_core::sc_time_stamp()) return false;
    return std::all_of(request.needs->begin(), request.needs->end(), [&](const Need& need) {
        const auto held = std::count_if(holdings_.begin(), holdings_.end(),
                                        [&](const Holding& holding) { return holding.port == need.port; });
        return static_cast<std::uint32_t>(held) < capacity_[need.port];
    });
}

void PortArbiter::decide() {
    const Cycle now = clock_.now();
    std::erase_if(holdings_, [&](const Holding& holding) { return holding.until <= now; });
    requests_.sort([](const Request* a, const Request* b) { return a->user < b->user; });
    for (auto request = requests_.begin(); request != requests_.end();) {
        if (!can_grant(**request)) {
            ++request;
            continue;
        }
        for (const Need& need : *(*request)->needs) {
            const Cycle until = need.cycles == until_released ? until_released : now + need.cycles;
            holdings_.push_back({(*request)->user, need.port, until});
        }
        (*request)->granted = true;
        (*request)->event.notify(sc_core::SC_ZERO_TIME);
        request = requests_.erase(request);
    }
}

void PortArbiter::run() {
    for (;;) {
        while (requests_.empty()) sc_core::wait(changed_);
        if (clock_.settled()) clock_.wait_until(clock_.now() + 1);
        clock_.wait_for_settled();
        decide();
        if (requests_.empty()) continue;
        // Nothing changes before a port falls free, by time or by release, or someone else asks.
        Cycle next = until_released;
        for (const Holding& holding : holdings_) next = std::min(next, holding.until);
        for (const Request* request : requests_) {
            if (request->eligible > sc_core::sc_time_stamp()) next = clock_.now() + 1;
        }
        if (next == until_released) {
            sc_core::wait(changed_);
        } else {
            sc_core::wait(clock_.delay_until(next), changed_);
        }
    }
}

}  // namespace systole::hw

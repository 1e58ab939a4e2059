#include "hw/common/port_arbiter.h"

#include <algorithm>
#include <bitset>
#include <iterator>
#include <utility>

namespace systole::hw {

namespace {

/// The cycle `cycles` after `begin`; the largest cycle for `until_released`.
Cycle end_of(Cycle begin, Cycle cycles) {
    return cycles == PortArbiter::until_released ? PortArbiter::until_released : begin + cycles;
}

}  // namespace

PortArbiter::PortArbiter(std::vector<Places> ports, const Clock& clock)
    : ports_(std::move(ports)), clock_(clock) {
    if (std::any_of(ports_.begin(), ports_.end(), [](const Places& port) { return port.contended(); })) {
        sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("port_arbiter"));
    }
}

Cycle PortArbiter::acquire(std::size_t user, std::span<const Need> needs) {
    sc_assert(user < user_limit);
    Request request{user, {}, sc_core::sc_time_stamp(), false, {}};
    std::copy_if(needs.begin(), needs.end(), std::back_inserter(request.needs),
                 [&](const Need& need) { return ports_.at(need.port).contended() && need.cycles > 0; });
    if (request.needs.empty()) return 0;
    const Cycle asked = clock_.now();
    if (clock_.settled()) request.eligible += clock_.delay_until(asked + 1);
    requests_.push_back(&request);
    changed_.notify(sc_core::SC_ZERO_TIME);
    while (!request.granted) clock_.wait(request.event);
    return clock_.now() - asked;
}

void PortArbiter::release(std::size_t user, Cycle at) {
    sc_assert(at >= clock_.now());
    // The requests of this cycle are being decided, here or by another arbiter: a release does not take part.
    if (clock_.settled()) at = std::max(at, clock_.now() + 1);
    for (Holding& holding : holdings_) {
        if (holding.user != user || holding.until != until_released) continue;
        holding.until = at;
        changed_.notify(sc_core::SC_ZERO_TIME);
    }
}

std::size_t PortArbiter::others_at(std::size_t user, Port port, Cycle at) const {
    std::bitset<user_limit> others;
    for (const Holding& holding : holdings_) {
        if (holding.port == port && holding.from <= at && at < holding.until) others.set(holding.user);
    }
    others.reset(user);
    return others.count();
}

bool PortArbiter::is_free(std::size_t user, Port port, Cycle from, Cycle until) const {
    // The number of holders grows only where a holding begins.
    const auto full = [&](Cycle at) { return others_at(user, port, at) >= ports_[port].places; };
    if (full(from)) return false;
    return std::none_of(holdings_.begin(), holdings_.end(), [&](const Holding& holding) {
        return holding.port == port && holding.user != user && from < holding.from && holding.from < until &&
               full(holding.from);
    });
}

bool PortArbiter::can_grant(const Request& request) const {
    if (request.eligible > sc_core::sc_time_stamp()) return false;
    const Cycle now = clock_.now();
    return std::all_of(request.needs.begin(), request.needs.end(), [&](const Need& need) {
        const Cycle from = now + need.offset;
        return is_free(request.user, need.port, from, end_of(from, need.cycles));
    });
}

void PortArbiter::hold(const Holding& wanted) {
    // Consecutive instructions without a gap are one holding, so the list stays short.
    for (Holding& holding : holdings_) {
        if (holding.user != wanted.user || holding.port != wanted.port) continue;
        if (holding.from <= wanted.from && wanted.from <= holding.until) {
            holding.until = std::max(holding.until, wanted.until);
            return;
        }
    }
    holdings_.push_back(wanted);
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
        for (const Need& need : (*request)->needs) {
            const Cycle from = now + need.offset;
            hold({(*request)->user, need.port, from, end_of(from, need.cycles)});
        }
        (*request)->granted = true;
        (*request)->event.notify(sc_core::SC_ZERO_TIME);
        request = requests_.erase(request);
    }
}

Cycle PortArbiter::next_chance() const {
    const Cycle now = clock_.now();
    Cycle next = until_released;
    for (const Request* request : requests_) {
        if (request->eligible > sc_core::sc_time_stamp()) return now + 1;
        // A wanted interval, which moves on with the cycles, becomes free only when it has passed a holding.
        for (const Need& need : request->needs) {
            for (const Holding& holding : holdings_) {
                if (holding.port != need.port || holding.until == until_released) continue;
                if (holding.until > now + need.offset) next = std::min(next, holding.until - need.offset);
            }
        }
    }
    return next;
}

void PortArbiter::run() {
    for (;;) {
        while (requests_.empty()) clock_.wait(changed_);
        if (clock_.settled()) clock_.wait_until(clock_.now() + 1);
        clock_.wait_for_settled();
        decide();
        if (requests_.empty()) continue;
        const Cycle next = next_chance();
        if (next == until_released) {
            clock_.wait(changed_);
        } else {
            clock_.wait(clock_.delay_until(next), changed_);
        }
    }
}

}  // namespace systole::hw

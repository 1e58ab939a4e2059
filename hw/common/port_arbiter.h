#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <list>
#include <span>
#include <systemc>
#include <vector>

#include "hw/common/clock.h"

namespace systole::hw {

/// The arbiter of the ports of the on-chip memories. An instruction requests all ports it needs at once, each
/// for the cycles in which its rows pass there. If one of them is taken in those cycles, it waits.
///
/// A port has places for several users. A request is granted in the first cycle in which, in every cycle of
/// every interval it wants, the number of other users that hold the port is below the number of places. A
/// user never waits for itself, because its rows pass in order.
///
/// All requests of a cycle are decided together, when the cycle has settled, in the order of the users'
/// numbers. A waiting request holds nothing. If a user makes another request in the cycle in which it was
/// granted one, that request is decided in the next cycle.
class PortArbiter {
public:
    using Port = std::size_t;
    static constexpr Cycle until_released = std::numeric_limits<Cycle>::max();
    static constexpr std::size_t user_limit = 32;

    /// The size of a port: how many users may hold it at once, and how many users ever request it.
    struct Places {
        std::uint32_t places = 1;
        std::uint32_t users = 1;

        bool contended() const { return places < users; }
    };

    /// Port `port` in the cycles [grant + offset, grant + offset + cycles). Nothing if `cycles` is 0.
    struct Need {
        Port port = 0;
        Cycle offset = 0;
        Cycle cycles = until_released;
    };

    /// The ports by number. Requests for ports with a place for every user are granted at once and not kept.
    PortArbiter(std::vector<Places> ports, const Clock& clock);

    /// Waits until all needs are granted; returns the number of cycles waited. `user` is below user_limit.
    Cycle acquire(std::size_t user, std::span<const Need> needs);
    Cycle acquire(std::size_t user, std::initializer_list<Need> needs) {
        return acquire(user, std::span(needs.begin(), needs.size()));
    }
    /// Frees from cycle `at` on, now or later, everything that the user holds `until_released`.
    void release(std::size_t user, Cycle at);

private:
    struct Request {
        std::size_t user;
        std::vector<Need> needs;
        sc_core::sc_time eligible;  ///< decided at this instant or later
        bool granted = false;
        sc_core::sc_event event;
    };
    /// A port held in the cycles [from, until).
    struct Holding {
        std::size_t user;
        Port port;
        Cycle from;
        Cycle until;
    };

    void run();
    void decide();
    bool can_grant(const Request& request) const;
    bool is_free(std::size_t user, Port port, Cycle from, Cycle until) const;
    std::size_t others_at(std::size_t user, Port port, Cycle at) const;
    void hold(const Holding& wanted);
    /// The first later cycle in which a waiting request could be granted without further requests or
    /// releases.
    Cycle next_chance() const;

    const std::vector<Places> ports_;
    const Clock& clock_;
    std::list<Request*> requests_;
    std::vector<Holding> holdings_;
    sc_core::sc_event changed_;
};

}  // namespace systole::hw

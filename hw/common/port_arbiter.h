#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <systemc>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/wait_state.h"

namespace systole::hw {

/// The ports of the on-chip memories. An instruction takes all the ports it needs at once and holds
/// each while its rows pass; where one is taken, it waits.
///
/// All requests of a cycle are decided together, when the cycle has settled: first the user with the
/// lowest number, then the next; who must wait holds nothing meanwhile. A request made by a user that
/// itself was granted in this cycle is decided in the next.
class PortArbiter {
public:
    using Port = std::size_t;
    static constexpr Cycle until_released = std::numeric_limits<Cycle>::max();

    struct Need {
        Port port = 0;
        Cycle cycles = until_released;  ///< held from the grant on
    };

    /// `capacity[p]` users may hold port p at once. Where no port has more users than that
    /// (`contended` false), requests are granted at once and nothing is kept.
    PortArbiter(std::vector<std::uint32_t> capacity, bool contended, const Clock& clock);

    /// Waits until all are granted. Returns the cycles waited.
    Cycle acquire(std::size_t user, const std::vector<Need>& needs, WaitState& state);
    /// Gives back what the user holds `until_released`.
    void release(std::size_t user);

private:
    struct Request {
        std::size_t user;
        const std::vector<Need>* needs;
        sc_core::sc_time eligible;  ///< decided at this instant or later
        bool granted = false;
        sc_core::sc_event event;
    };
    struct Holding {
        std::size_t user;
        Port port;
        Cycle until;
    };

    void run();
    void decide();
    bool can_grant(const Request& request) const;

    const std::vector<std::uint32_t> capacity_;
    const bool contended_;
    const Clock& clock_;
    std::list<Request*> requests_;
    std::vector<Holding> holdings_;
    sc_core::sc_event changed_;
};

}  // namespace systole::hw

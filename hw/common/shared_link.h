#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cycle.h"
#include "hw/common/clock.h"
#include "hw/common/ordered_requests.h"

namespace systole::hw {

/// One direction of the host link, which the cores share. It carries data transfers, one after the other, and
/// short urgent messages (instructions). A message interrupts the transfer under way, which continues after
/// the message. Messages of one cycle go by the number of their core.
///
/// A transfer is done in the cycle in which its last byte leaves; a message sent in that cycle or later does
/// not delay it. Messages start at the beginning of a cycle and transfers when the cycle has settled, so a
/// message goes before a transfer of the same cycle.
class SharedLink {
public:
    SharedLink(Rate rate, std::size_t cores, const Clock& clock)
        : rate_(rate), clock_(clock), messages_(cores, clock) {}

    /// Waits for the beginning of a cycle and sends a message of `bytes` bytes.
    void send_urgent(std::size_t core, std::uint64_t bytes);
    /// The cycle in which the last byte of a core's message leaves, for one message after the other. Waits
    /// until it is known: of several cores, until the message's cycle is over.
    Cycle next_urgent_end(std::size_t core);
    /// Sends `bytes` bytes of data; returns in the cycle in which the last byte leaves. One transfer at a
    /// time.
    void transfer(std::uint64_t bytes);

private:
    /// Sends a message of this cycle; returns when its last byte leaves.
    Cycle send(std::uint64_t bytes, Cycle now);
    auto sending() {
        return [this](std::uint64_t bytes, Cycle now) { return send(bytes, now); };
    }

    const Rate rate_;
    const Clock& clock_;
    OrderedRequests<std::uint64_t> messages_;  ///< their bytes
    ExactTime urgent_end_;                     ///< of the last message
    ExactTime transfer_end_;                   ///< of the last transfer; later messages may move it
    ExactTime last_transfer_end_;              ///< of the transfer before
};

}  // namespace systole::hw

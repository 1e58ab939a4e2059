#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cycle.h"
#include "hw/common/clock.h"

namespace systole::hw {

/// One direction of the host link. It carries data transfers, one after the other, and short urgent messages
/// (instructions). A message interrupts the transfer under way, which continues after the message.
///
/// A transfer is done in the cycle in which its last byte leaves; a message sent in that cycle or later does
/// not delay it. Messages start at the beginning of a cycle and transfers when the cycle has settled, so a
/// message goes before a transfer of the same cycle.
class SharedLink {
public:
    SharedLink(Rate rate, const Clock& clock) : rate_(rate), clock_(clock) {}

    /// Waits for the beginning of a cycle and sends a message of `bytes` bytes; returns the cycle in which
    /// its last byte leaves.
    Cycle send_urgent(std::uint64_t bytes);
    /// Sends `bytes` bytes of data; returns in the cycle in which the last byte leaves.
    void transfer(std::uint64_t bytes);

private:
    const Rate rate_;
    const Clock& clock_;
    ExactTime urgent_end_;         ///< of the last message
    ExactTime transfer_end_;       ///< of the last transfer; later messages may move it
    ExactTime last_transfer_end_;  ///< of the transfer before
};

}  // namespace systole::hw

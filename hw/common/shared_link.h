#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/base/cycle.h"
#include "hw/common/clock.h"

namespace systole::hw {

/// One direction of the host link: data transfers, one after the other, and short urgent messages
/// (instructions) that go first: the transfer under way goes on when they are through.
///
/// A transfer is done in the cycle in which its last byte goes; a message sent in that cycle or later
/// no longer delays it. Messages go at the beginning of a cycle, transfers begin when it has settled:
/// of two that meet in one cycle the message goes first.
class SharedLink {
public:
    SharedLink(Rate rate, const Clock& clock) : rate_(rate), clock_(clock) {}

    /// Sends a message of so many bytes; returns the cycle in which its last byte goes. Waits for the
    /// beginning of a cycle.
    Cycle send_urgent(std::uint64_t bytes);
    /// Sends data; returns in the cycle in which the last byte goes.
    void transfer(std::uint64_t bytes);

private:
    const Rate rate_;
    const Clock& clock_;
    ExactTime urgent_end_;         ///< of the last message
    ExactTime transfer_end_;       ///< of the last transfer, as far as known
    ExactTime last_transfer_end_;  ///< of the transfer before
};

}  // namespace systole::hw

#pragma once

#include <cstddef>
#include <vector>

#include "hw/isa/program.h"
#include "hw/isa/queue.h"

namespace systole::tests {

/// Two instructions, by their places in the program.
struct UnorderedPair {
    std::size_t earlier = 0;
    std::size_t later = 0;

    bool operator==(const UnorderedPair&) const = default;
};

/// A unit that waits for a signal that never comes.
struct StuckUnit {
    isa::QueueId unit = isa::QueueId::HostRead;
    std::uint8_t semaphore = 0;
};

/// The order of a program's instructions by queues, signals and waits, computed pair by pair, as simple as
/// possible; for programs whose semaphores have one signaller and one waiter each.
struct OrderRelation {
    std::vector<UnorderedPair> unordered;  ///< both touch a row, one writes it, and nothing orders them
    std::vector<StuckUnit> stuck;
};

OrderRelation order_relation(const isa::Program& program);

}  // namespace systole::tests

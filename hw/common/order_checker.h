#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/ring_queue.h"
#include "hw/isa/access_history.h"
#include "hw/isa/queue.h"

namespace systole::hw {

/// The place of an instruction in the program, from 0.
using InstructionNumber = std::uint64_t;

/// What is known to come before a point of a unit's work: for each queue of the system the number of its last
/// such instruction plus 1; 0 is none. All earlier instructions of that queue come before the point, too. The
/// queues of core c begin at c * isa::queue_count.
class VectorClock {
public:
    explicit VectorClock(std::size_t queues = isa::queue_count) : others_(queues - isa::queue_count) {}

    std::uint64_t operator[](std::size_t queue) const {
        return queue < isa::queue_count ? first_[queue] : others_[queue - isa::queue_count];
    }
    std::uint64_t& operator[](std::size_t queue) {
        return queue < isa::queue_count ? first_[queue] : others_[queue - isa::queue_count];
    }
    /// What comes before the other point comes before this one.
    void merge(const VectorClock& other);

private:
    std::array<std::uint64_t, isa::queue_count> first_{};  ///< of core 0: no memory of their own for one core
    std::vector<std::uint64_t> others_;
};

/// An instruction began although nothing orders it behind an earlier instruction of another unit that touches
/// the same rows: a `sync` is missing in the program.
class OrderViolation : public std::runtime_error {
public:
    OrderViolation(InstructionNumber earlier, InstructionNumber later);

    const InstructionNumber earlier;
    const InstructionNumber later;
};

/// Checks that the `sync` instructions of a program suffice for it to mean what it means in program order: if
/// two instructions touch the same row and at least one writes it, the later must be ordered behind the
/// earlier, by its unit's queue or by signals and waits. The hardware does not check this. The checker uses
/// vector clocks, not times, so it finds a missing `sync` even in a run whose timing happens to be right.
class OrderChecker {
public:
    explicit OrderChecker(std::size_t cores = 1)
        : issued_(cores * isa::queue_count),
          vector_clocks_(cores * isa::queue_count, VectorClock(cores * isa::queue_count)) {}

    /// Called in program order, before the instruction can begin. The instruction must come after those of
    /// its core that are in `behind`.
    void issue(std::size_t queue, InstructionNumber number, const isa::QueuePositions& behind);
    /// The queue's next instruction begins. Throws OrderViolation if it is not ordered as `issue` demanded.
    void begin(std::size_t queue, InstructionNumber number);

    /// The instructions that the queue's next instruction comes after. A signal carries a copy.
    const VectorClock& vector_clock(std::size_t queue) const { return vector_clocks_[queue]; }
    /// The queue's wait is over: it comes after everything in the clock that the signal carried.
    void merge(std::size_t queue, const VectorClock& signalled) { vector_clocks_[queue].merge(signalled); }

private:
    struct Issued {
        InstructionNumber number = 0;
        isa::QueuePositions behind{};
    };

    std::vector<RingQueue<Issued>> issued_;  ///< by queue: not begun yet, in program order
    std::vector<VectorClock> vector_clocks_;
};

/// An instruction breaks a rule that can only be checked while it runs. The message is the rule.
class InstructionError : public std::runtime_error {
public:
    InstructionError(InstructionNumber instruction, const std::string& rule)
        : std::runtime_error(rule), number(instruction) {}

    const InstructionNumber number;
};

}  // namespace systole::hw

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "hw/common/clock.h"
#include "hw/common/ring_queue.h"
#include "hw/isa/queue.h"

namespace systole::hw {

/// The place of an instruction in the program, from 0.
using InstructionNumber = std::uint64_t;

/// What is known to come before a point of a unit's work: for each unit the number of its last such
/// instruction plus 1; 0 is none. All earlier instructions of that unit come before the point, too.
using VectorClock = std::array<std::uint64_t, isa::queue_count>;

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
    /// Called in program order, before the instruction can begin. The instruction must come after those in
    /// `behind`.
    void issue(std::size_t unit, InstructionNumber number, const VectorClock& behind);
    /// The unit's next instruction begins. Throws OrderViolation if it is not ordered as `issue` demanded.
    void begin(std::size_t unit, InstructionNumber number);

    /// The instructions that the unit's next instruction comes after. A signal carries a copy.
    const VectorClock& vector_clock(std::size_t unit) const { return vector_clocks_[unit]; }
    /// The unit's wait is over: it comes after everything in the clock that the signal carried.
    void merge(std::size_t unit, const VectorClock& signalled);

private:
    struct Issued {
        InstructionNumber number = 0;
        VectorClock behind{};
    };

    std::array<RingQueue<Issued>, isa::queue_count> issued_;  ///< not begun yet, in program order
    std::array<VectorClock, isa::queue_count> vector_clocks_{};
};

/// An instruction breaks a rule that can only be checked while it runs. The message is the rule.
class InstructionError : public std::runtime_error {
public:
    InstructionError(InstructionNumber instruction, const std::string& rule)
        : std::runtime_error(rule), number(instruction) {}

    const InstructionNumber number;
};

}  // namespace systole::hw

#pragma once

#include <cstddef>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"

namespace systole::hw {

/// When one instruction (one repetition of it, in the matrix unit) passed through its unit.
struct InstructionTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;    ///< put into the unit's queue
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< the unit could begin the next
    Cycle complete = 0;  ///< its last result in its place

    bool operator==(const InstructionTimes&) const = default;
};

/// Hears of every instruction as its times become known. For traces and tests; a run without one
/// costs a comparison with null an instruction.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void instruction(const InstructionTimes& times) = 0;
};

}  // namespace systole::hw

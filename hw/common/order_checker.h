#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"

namespace systole::hw {

enum class Memory : std::uint8_t { UnifiedBuffer, Accumulators };

/// Rows [first, last) of a memory that an instruction reads or writes.
struct Access {
    Memory memory = Memory::UnifiedBuffer;
    bool writes = false;
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    bool conflicts(const Access& other) const {
        return memory == other.memory && (writes || other.writes) && first < other.last && other.first < last;
    }
};

/// An instruction began while an earlier one of another unit, that touches the same rows, was not
/// complete: the program lacks a `sync`.
class OrderViolation : public std::runtime_error {
public:
    OrderViolation(InstructionNumber earlier, InstructionNumber later, const Access& access);

    const InstructionNumber earlier;
    const InstructionNumber later;
    const Access access;  ///< the later instruction's
};

/// Holds the units to the meaning of a program, which is its order: wherever two instructions touch
/// the same row and at least one writes it, the earlier must be complete when the later begins. The
/// hardware does not check that; this does, so that a program that runs to its end has computed what
/// its instructions say, one after the other.
///
/// It also remembers who wrote each unified-buffer row last and when that was complete: the reasons
/// the matrix unit gives for waiting.
class OrderChecker {
public:
    explicit OrderChecker(std::size_t units) : under_way_(units) {}

    /// In program order, before the instruction can begin.
    void issue(std::size_t unit, InstructionNumber number, std::vector<Access> accesses);
    /// The instruction begins. Throws OrderViolation.
    void begin(std::size_t unit, InstructionNumber number, Cycle now);
    /// The instruction, which has begun, is complete at `at`, now or later.
    void complete(std::size_t unit, InstructionNumber number, Cycle at);

    /// The cycle in which the last write of these unified-buffer rows by this unit is complete.
    Cycle written(std::size_t unit, std::uint64_t first, std::uint64_t last) const;

private:
    struct UnderWay {
        InstructionNumber number = 0;
        std::optional<Cycle> complete_at;
        std::vector<Access> accesses;
    };
    struct LastWrite {
        std::uint64_t last = 0;  ///< end of the rows, exclusive
        std::size_t unit = 0;
        Cycle complete_at = 0;
    };

    UnderWay& find(std::size_t unit, InstructionNumber number);
    void remember_write(std::size_t unit, const Access& access, Cycle at);

    std::vector<std::deque<UnderWay>> under_way_;  ///< by unit, in program order
    std::map<std::uint64_t, LastWrite> writes_;    ///< by first row; ranges do not overlap
};

}  // namespace systole::hw

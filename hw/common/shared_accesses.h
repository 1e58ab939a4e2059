#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/isa/footprint.h"
#include "hw/isa/memory.h"

namespace systole::hw {

/// Two instructions of two cores touch the same place of a memory that the cores share, one of them writes
/// it, and nothing orders them.
class CoreRace : public std::runtime_error {
public:
    struct Instruction {
        std::size_t core = 0;
        InstructionNumber number = 0;
    };

    CoreRace(const Instruction& one, const Instruction& other, isa::MemoryId shared,
             const isa::RowRange& both);

    const Instruction first;   ///< of the core with the smaller number
    const Instruction second;  ///< of the other core
    const isa::MemoryId memory;
    const isa::RowRange rows;  ///< that both touch
};

/// Checks the order between cores: of two accesses to the same place of a shared memory, one of them writing,
/// one must come after the other by semaphores of the system. As in OrderChecker, times play no part. The
/// order inside a core is OrderChecker's.
class SharedAccesses {
public:
    explicit SharedAccesses(const OrderChecker& order) : order_(order) {}

    /// The queue's next instruction, with this footprint, begins; it has begun in the order checker. Throws
    /// CoreRace.
    void begin(std::size_t queue, InstructionNumber number, const isa::Footprint& footprint);

private:
    struct Access {
        std::size_t queue = 0;
        InstructionNumber number = 0;
    };
    /// Places with the same history; each ends where the next begins.
    struct Segment {
        std::vector<Access> writes;  ///< at most one
        std::vector<Access> reads;   ///< since then: the last of each queue
    };
    using Segments = std::map<std::uint64_t, Segment>;

    void check(const Access& now, const isa::MemoryRows& touched, const Segments& segments) const;
    static void record(const Access& now, const isa::MemoryRows& touched, Segments& segments);

    const OrderChecker& order_;
    isa::ByMemory<Segments> memories_;  ///< only of the shared ones
};

}  // namespace systole::hw

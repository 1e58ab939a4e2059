#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/common/unit_module.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"

// Why a program cannot finish: which instruction each unit waits in, and which of them is the cause.
namespace systole::hw {

/// The state of a program in which nothing moves any more.
struct StuckProgram {
    const isa::Program& program;
    InstructionNumber issued = 0;    ///< the next instruction to issue; it waits in the sequencer
    bool shares_semaphores = false;  ///< with other cores, from isa::first_shared_semaphore on
    /// The instruction that each unit cannot go on with; none if the unit has nothing to do.
    std::array<std::optional<InstructionNumber>, isa::queue_count> waiting;
    /// What these wait for; none for a `sync`.
    std::array<std::optional<AwaitedWork>, isa::queue_count> awaited = {};
};

/// One unit's wait.
struct StuckWait {
    std::string unit;
    InstructionNumber number = 0;  ///< the instruction that it waits in
    std::string reason;            ///< "for semaphore 3, which ..."
};

/// The waits of all units that have something to do, and last that of the sequencer. The cause is the first:
/// the wait that no other unit can end, or, of units that wait for each other, the one of the earliest
/// instruction, with the others behind it.
std::vector<StuckWait> waits_of(const StuckProgram& stuck);

}  // namespace systole::hw

#pragma once

#include <cstdint>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/unit.h"

namespace systole::emit {

/// The semaphore on which `waiter` waits for `signaller`: each pair of units has its own.
constexpr std::uint8_t semaphore_of(isa::Unit signaller, isa::Unit waiter) {
    return static_cast<std::uint8_t>(isa::unit_count * static_cast<std::size_t>(signaller) +
                                     static_cast<std::size_t>(waiter));
}

/// Inserts the `sync` instructions that make units, which run their queues side by side, do the same as
/// the instructions one after the other: of two instructions of different units that touch a row, one of
/// them writing, the later waits until the earlier has finished. A wait stands directly before the
/// instruction that needs it, its signal directly behind the one it reports on, and none is written
/// where the order holds without.
///
/// Why counting semaphores suffice: what a unit waits for at another only moves on, so that the k-th wait
/// of a pair is for the k-th signal.
///
/// `instructions` must not contain sync. Throws ProgramError where instructions make no sense (see
/// isa::footprint), std::logic_error for sync.
std::vector<isa::Instruction> synchronize(const std::vector<isa::Instruction>& instructions,
                                          const isa::Geometry& geometry);

}  // namespace systole::emit

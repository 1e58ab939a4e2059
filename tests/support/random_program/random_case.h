#pragma once

#include <cstdint>

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// How `sync` instructions are laid into a program. Without any of it: a wait directly before the instruction
/// that needs it, its signal directly behind the one it reports on.
struct SyncStyle {
    std::uint64_t seed = 0;          ///< of the positions below
    unsigned late_percent = 0;       ///< signals that come later than they could
    unsigned early_percent = 0;      ///< waits that come earlier than they must
    unsigned extra_percent = 0;      ///< places with a sync that no order needs
    unsigned semaphores_a_pair = 1;  ///< of units
    bool implied = false;            ///< also where another wait implies the order

    bool operator==(const SyncStyle&) const = default;
};

/// A machine and a program for it. `program` is without sync; `synchronized` lays it in.
struct Case {
    machine::MachineConfig machine;
    isa::Program program;
    SyncStyle sync;
};

/// Array of 1x1 to 64x64, mostly small; bandwidths that do not divide, odd latencies.
machine::MachineConfig random_machine(Choices& choices);

/// A program of every kind of instruction that runs to its end on the machine: rows that exist, tiles that
/// fit, and never more tiles asked for than the queues can hold up for. Its data are constants, so that its
/// assembly is all of it.
isa::Program random_program(const machine::MachineConfig& machine, Choices& choices);

/// Both, and a style.
Case random_case(Choices& choices);

}  // namespace systole::tests

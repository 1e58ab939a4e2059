#pragma once

#include <cstdint>

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// The way in which `sync` instructions are inserted into a program. By default, a wait stands directly
/// before the instruction that needs it, and its signal directly after the instruction that it reports.
struct SyncStyle {
    std::uint64_t seed = 0;          ///< seed for the positions below
    unsigned late_percent = 0;       ///< signals that stand later than possible
    unsigned early_percent = 0;      ///< waits that stand earlier than necessary
    unsigned extra_percent = 0;      ///< places with a sync that no order needs
    unsigned semaphores_a_pair = 1;  ///< of units
    bool implied = false;            ///< also where another wait implies the order

    bool operator==(const SyncStyle&) const = default;
};

/// A machine and a program for it. `program` has no sync; `synchronized` inserts it.
struct Case {
    machine::MachineConfig machine;
    isa::Program program;
    SyncStyle sync;
};

/// Array of 1x1 to 64x64, mostly small; bandwidths that do not divide, odd latencies.
machine::MachineConfig random_machine(Choices& choices);

/// A program with every kind of instruction that finishes on the machine: all rows exist, all tiles fit, and
/// the queues can hold all fetches. Its data are constants, so its assembly is complete.
isa::Program random_program(const machine::MachineConfig& machine, Choices& choices);

/// A machine, a program and a style of synchronization.
Case random_case(Choices& choices);

}  // namespace systole::tests

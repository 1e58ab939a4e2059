#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "tests/support/random_program/choices.h"
#include "tests/support/random_program/observe.h"

namespace systole::tests {

/// Bytes that a core writes into a host buffer of all cores and another core reads, behind a semaphore of the
/// system: numbers of the instructions in their programs.
struct Handover {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t write = 0;
    std::size_t signal = 0;
    std::size_t wait = 0;
    std::size_t read = 0;
};

/// A machine, and a program for each of its cores.
struct SystemCase {
    machine::MachineConfig machine;
    std::vector<isa::Program> programs;
    std::vector<Handover> handovers;
};

/// One to three random programs with all the `sync` they need, and up to six handovers between them. nullopt
/// where a program takes more semaphores than a core has for itself.
std::optional<SystemCase> random_system(Choices& choices);

/// What can be seen of a run of several cores.
struct SystemObservation {
    std::string error;  ///< then the rest is empty
    std::vector<Cycle> cycles;
    std::vector<CounterReading> counters;
    std::vector<Memories> memories;  ///< by core

    bool operator==(const SystemObservation&) const = default;
};

SystemObservation observe(const SystemCase& random, machine::Engine engine,
                          const std::function<unsigned()>& test_delta_delay = {});

/// The memories after the functional executor. Throws ProgramError if a program is wrong.
std::vector<Memories> execute(const SystemCase& random);

/// The first difference, in one line, or nullopt.
std::optional<std::string> difference(const SystemObservation& one, const SystemObservation& other);

/// The case without the wait of a handover.
SystemCase without_wait(const SystemCase& random, std::size_t handover);

}  // namespace systole::tests

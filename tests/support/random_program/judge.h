#pragma once

#include <optional>
#include <string>

#include "tests/support/random_program/random_case.h"

namespace systole::tests {

/// The failure of a case.
struct Failure {
    enum class Kind : std::uint8_t {
        Refused,     ///< sim/functional rejects the program: a fault of the generator
        Stopped,     ///< an engine did not finish the program
        Law,         ///< counters or times are inconsistent
        Engines,     ///< two engines differ
        Functional,  ///< values differ from those of sim/functional
        Order,       ///< another order of the kernel's processes changes something
    };

    Kind kind = Kind::Refused;
    std::string text;  ///< the difference and its place, in one line
};

/// Runs the case on every engine of machine::engine_names, in the kernel's order of processes and in
/// a shuffled one, and on sim/functional; all must give the same times, counters and values.
std::optional<Failure> judge(const Case& random);

/// Everything needed to repeat the case: the failure, the machine as JSON, the program as text for `sim asm`.
std::string describe(const Case& random, const Failure& failure);

}  // namespace systole::tests

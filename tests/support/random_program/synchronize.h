#pragma once

#include "hw/isa/program.h"
#include "tests/support/random_program/random_case.h"

namespace systole::tests {

/// The case's program with the `sync` it needs, laid in its style. Throws ProgramError where an instruction
/// makes no sense. (An implementation of its own: the compiler's lays `sync` in one way only.)
isa::Program synchronized(const Case& random);

}  // namespace systole::tests

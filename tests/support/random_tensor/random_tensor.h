#pragma once

#include <optional>
#include <string>

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// A program for a machine with a tensor core; its instructions have the `sync` that they need.
struct TensorCase {
    machine::MachineConfig machine;
    isa::Program program;
};

TensorCase random_tensor(Choices& choices);

/// The first difference between the engines, in calm and in shuffled order of the kernel's processes, and
/// between them and sim/functional, in one line; or a law of accounting that a run breaks.
std::optional<std::string> judge(const TensorCase& random);

}  // namespace systole::tests

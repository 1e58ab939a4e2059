#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// A program for a machine with tiles; its instructions have the `sync` that they need.
struct TileCase {
    machine::MachineConfig machine;
    isa::Program program;
};

TileCase random_tiles(Choices& choices);

/// Lays the `sync` that a program without any needs: a wait right before each instruction that must come
/// after one of another unit, a signal right behind that one.
isa::Program ordered(const isa::Program& program);

/// The first difference between the engines, in calm and in shuffled order of the kernel's processes, and
/// between them and sim/functional, in one line; or a law of accounting that a run breaks.
std::optional<std::string> judge(const TileCase& random);

}  // namespace systole::tests

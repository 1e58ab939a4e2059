#pragma once

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/target.h"
#include "hw/isa/program.h"

/// Turns a schedule into a program.
namespace systole::emit {

/// The program that executes a schedule of the network.
isa::Program emit_program(const mapping::Network& network, const schedule::Schedule& schedule);

/// The network as a program for the target: all inferences, batch by batch. Throws ModelError, in one line,
/// if the network does not fit the target, std::logic_error if it is inconsistent.
isa::Program compile(const mapping::Network& network, const schedule::Target& target,
                     const mapping::Batches& batches);

}  // namespace systole::emit

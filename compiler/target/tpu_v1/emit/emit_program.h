#pragma once

#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/isa/program.h"

/// Turns a schedule into a program.
namespace systole::tpu_v1 {

/// The program that executes a schedule of the network.
isa::Program emit_program(const Network& network, const Schedule& schedule);

/// The network as a program for the target: all inferences, batch by batch. Throws ModelError, in one line,
/// if the network does not fit the target, std::logic_error if it is inconsistent.
isa::Program compile(const Network& network, const Target& target, const mapping::Batches& batches);

}  // namespace systole::tpu_v1

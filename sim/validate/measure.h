#pragma once

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/validate/measurement.h"

namespace systole::validate {

/// Runs the program on the machine, without values, and reads its counters. One simulation a process.
/// `macs` are those that the network asks for an inference.
Measurement measure(const isa::Program& program, const machine::MachineConfig& machine, std::uint64_t macs);

}  // namespace systole::validate

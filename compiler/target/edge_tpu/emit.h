#pragma once

#include "compiler/mapping/options.h"
#include "compiler/target/edge_tpu/network.h"
#include "compiler/target/edge_tpu/parameters.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// The program of a network whose tensors and parameters have their places: one call for each inference.
/// Throws ModelError if the host's memory is too small.
isa::Program emit_program(const Network& network, const ParameterPlan& plan,
                          const machine::MachineConfig& machine, std::uint64_t inferences);

/// The bytes of instructions that a call sends: what the chip's own compiler makes of the network.
std::uint64_t program_bytes(const Network& network, const machine::MachineConfig& machine);

}  // namespace systole::edge_tpu

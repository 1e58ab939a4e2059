#pragma once

#include "compiler/mapping/options.h"
#include "compiler/target/tensor_core/memory.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// The program for so many inferences in batches. The images of a batch go through the network as many at a
/// time as it says. Throws ModelError if the smallest part of a layer does not fit into vector memory.
isa::Program emit_program(const Network& network, MemoryPlan plan, const machine::MachineConfig& machine,
                          const mapping::Batches& batches);

}  // namespace systole::tensor_core

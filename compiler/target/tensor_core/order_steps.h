#pragma once

#include "compiler/target/tensor_core/network.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// Moves steps of a network to the front whose work, with what it needs, ends the lives of more bytes than it
/// makes: as the gradient of a kernel, of which the images of the forward pass and their gradient are read
/// last. Programs of training often have all of those at their end. All tensors keep their values.
void order_steps(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core

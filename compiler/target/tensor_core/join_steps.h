#pragma once

#include "compiler/target/tensor_core/network.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// Chains that read rows which another chain reads or writes become further results of its step, so that
/// these rows come in once. Steps keep an order in which each follows those that it reads. The work counts
/// for the layer of the step that it joins. The bits of all tensors are the same.
void join_steps(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core

#pragma once

#include "compiler/target/tensor_core/network.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// Sums of rows become parts of a step that reads or writes the same rows, so that these come in once: sums
/// of sums, as in the gradients of batch normalization, and sums of what a chain writes.
void put_sums_beside_rows(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core

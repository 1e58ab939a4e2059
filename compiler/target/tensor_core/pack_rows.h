#pragma once

#include "compiler/target/tensor_core/network.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// Tensors of bfloat16 take half of the memory and of its traffic: two rows share one, as in the tiled layout
/// (8, 128)(2, 1) that is published for Cloud TPUs. So are packed those of which every step reads and writes
/// pairs of rows: of products, chains, sums and transpositions. State, outputs and constants are not.
void pack_rows(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core

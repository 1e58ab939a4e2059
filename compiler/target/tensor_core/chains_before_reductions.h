#pragma once

#include "compiler/target/tensor_core/network.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// A chain whose result one reduction to a row or a column reads, and nothing else, becomes part of that step
/// (`Step::before`): what it computes is reduced some rows at a time, and never in high-bandwidth memory. So
/// are the squares of a variance, the products whose sums are gradients of batch normalization, and the
/// exponentials of a softmax. There is room for some rows of all that it reads.
void put_chains_before_reductions(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core

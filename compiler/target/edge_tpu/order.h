#pragma once

#include "compiler/target/edge_tpu/network.h"

namespace systole::edge_tpu {

/// Makes the step `from` the step `to`, in front of it.
void move_step_up(Network& network, std::uint32_t from, std::uint32_t to);

/// Moves steps up that are the last to read a tensor and leave a smaller one: to where the tensor is
/// complete. So the larger one need not be there any longer.
void move_last_readers_up(Network& network);

}  // namespace systole::edge_tpu

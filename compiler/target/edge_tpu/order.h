#pragma once

#include "compiler/target/edge_tpu/network.h"

namespace systole::edge_tpu {

/// Moves steps up that are the last to read a tensor and leave a smaller one: to where the tensor is
/// complete. So the larger one need not be there any longer.
void move_last_readers_up(Network& network);

}  // namespace systole::edge_tpu

#pragma once

#include "compiler/target/family.h"

namespace systole::edge_tpu {

/// Machines of tiles: the Edge TPU.
extern const target::Family family;

}  // namespace systole::edge_tpu

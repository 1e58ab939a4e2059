#pragma once

#include <span>
#include <string>

#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// Sets Layer::repeats of the layers with these names (ir::Graph::repeated). A layer repeats the first one of
/// its name with the same work, if its tensors have the same shapes and types. Slices and segments of the
/// host, which have no parameters, need only have the same name.
void share_repeats(Network& network, std::span<const std::string> names);

}  // namespace systole::tpu_v1

#pragma once

#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// Lets pixels begin at rows of the unified buffer where slices take single pixels that do not: such an image
/// becomes the first channels of one with more channels, which fill whole rows, and the slices are taken of
/// that. The layer that computes the image writes it there, if nothing else reads it. The other channels have
/// no meaning, and nothing reads them.
Network align_pixels(Network network, const Target& target);

}  // namespace systole::tpu_v1

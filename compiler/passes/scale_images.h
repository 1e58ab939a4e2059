#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// A network without weights for images `factor` times as wide and as high: its layers stay, the weights of
/// dense layers grow with their inputs, and so do the shapes of reshapes. An input that is a vector must
/// become an image by a reshape. Padding that the file gives as numbers stays. Throws ModelError, with the
/// input or the layer, if the network has weights, has no images, or holds a shape that cannot grow.
ir::Graph scale_images(ir::Graph graph, std::uint32_t factor);

}  // namespace systole::passes

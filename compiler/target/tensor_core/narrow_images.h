#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace systole::tensor_core {

/// Images of few channels that are an input of a program become images of lines: [1, images, height,
/// width * channels] in place of [1, images, height, width, channels]. So a line fills the lanes that a pixel
/// leaves empty. Element-wise work, borders, convolutions and a transposition to images in lanes may read
/// them; where something else does, they stay as they are.
ir::Graph with_lines_of_narrow_images(ir::Graph graph, std::uint64_t lanes);

}  // namespace systole::tensor_core

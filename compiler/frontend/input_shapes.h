#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/ir/shape.h"

namespace systole::frontend {

/// Shapes of a network's inputs by their names, with the batch, for files that leave sizes open. The empty
/// name means the only input.
using InputShapes = std::map<std::string, ir::Shape, std::less<>>;

}  // namespace systole::frontend

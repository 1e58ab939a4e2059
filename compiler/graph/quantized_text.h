#pragma once

#include <string>

#include "compiler/graph/quantized_network.h"

namespace systole::quantized {

/// One line a tensor and one a layer, weights and tables as their sums: what changes a result changes
/// the text.
std::string to_text(const Network& network);

}  // namespace systole::quantized

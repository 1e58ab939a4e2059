#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

/// Quantizes a simplified graph whose activations have ranges: activations to unsigned bytes, or to 16 bits
/// where the node whose result is stored says so, with one encoding a value; weights to signed bytes with one
/// scale an output channel. A ReLU behind matrix work or a sum becomes its clamp; other functions become
/// lookups. The input is stored as `input` says, if it does and the input is of bytes.
///
/// A graph without the values of its weights becomes one without weights. A graph on integers stays as it is.
/// Throws ModelError, naming the layer, where these numbers cannot express the network.
ir::Graph quantize(const ir::Graph& graph, const std::optional<InputEncoding>& input);

}  // namespace systole::passes

#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

/// Quantizes a simplified graph whose activations have ranges. An activation becomes unsigned bytes, or 16
/// bits if its `stored_as` says so, with one encoding for the value. Weights become signed bytes with one
/// scale for each output channel. A ReLU after matrix work or a sum becomes its clamp; other functions become
/// lookups. An input of bytes is stored in the encoding `input`, if given. With `quantizes_products`,
/// products of two computed matrices are computed on integers, and otherwise in float.
///
/// A graph without weights stays without weights. A graph on integers is returned unchanged. Throws
/// ModelError with the layer if integers cannot express the network.
ir::Graph quantize(const ir::Graph& graph, const std::optional<InputEncoding>& input,
                   bool quantizes_products = false);

}  // namespace systole::passes

#pragma once

#include "compiler/graph/quantized_network.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

/// Quantizes a simplified graph: activations to unsigned bytes, or to 16 bits where the node whose result is
/// stored says so, with one encoding a tensor, from the ranges of the calibration inputs; weights to signed
/// bytes with one scale an output channel. The activation function after a layer becomes part of its
/// requantization; a final softmax is left to the host.
///
/// A graph without the values of its weights needs no calibration inputs, and its network has no weights
/// either.
///
/// A reshape that simplifying has left, between two layers that depend on the shape, becomes a lookup of
/// the identity, or of 16 bits a slice of everything; the last one becomes nothing. Throws ModelError, naming
/// the layer, where these numbers cannot express the network.
quantized::Network quantize(const ir::Graph& graph, const Calibration& calibration);

}  // namespace systole::passes

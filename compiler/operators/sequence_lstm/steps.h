#pragma once

#include "compiler/operators/operator.h"

/// The arithmetic of a `sequence_lstm`, step by step.
namespace systole::operators::sequence_lstm {

/// In float32.
void compute_in_float(const FloatCall& call);

/// In float32, as primitives in words: the states of all steps, in the shape of the node's result.
ir::ValueId steps_in_words(const ir::Node& node, WordsBuilder& builder);

/// Throws ModelError unless the scales of a node on integers have fixed-point multipliers.
void check_integer_scales(const ir::NodeView& node);
/// On int8 with a cell of int16, as TFLite's kernel.
void compute_on_integers(const TensorCall& call);

}  // namespace systole::operators::sequence_lstm

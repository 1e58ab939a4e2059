#pragma once

#include "compiler/ir/graph.h"
#include "compiler/ir/words_options.h"

namespace systole::passes {

/// The float graph as primitives whose attributes state every bit of their results
/// (compiler/operators/words.h), by the rule of each operator. Throws ModelError if a node or a value is not
/// in float32, or if an operator has no rule.
ir::Graph compute_in_words(const ir::Graph& graph, const ir::WordsOptions& options);

}  // namespace systole::passes

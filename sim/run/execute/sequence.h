#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The sequence that the first input of a network is, if its nodes say so: indices that look up the rows of a
/// table, one for each token; or steps [batch][steps][numbers] (or [steps][batch][numbers]) that a recurrence
/// takes one after the other. Absent for all other inputs, such as images: their shape alone says nothing.
std::optional<SequenceFacts> sequence_of(const ir::Graph& graph);

}  // namespace systole::run

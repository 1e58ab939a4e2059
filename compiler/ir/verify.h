#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace systole::ir {

/// What is wrong with a graph, in one line that names the node or value; nothing where it is whole: ids,
/// topological order, one definition of each value, attributes, shapes and types by the rules of the
/// operators, sizes of constants and of quantizations.
std::optional<std::string> find_fault(const Graph& graph);

/// Throws std::logic_error, naming the pass that has broken the graph and the node.
void verify(const Graph& graph, std::string_view pass);

}  // namespace systole::ir

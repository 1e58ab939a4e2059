#include "compiler/ir/program.h"

#include <algorithm>

namespace systole::ir {

bool is_program(const Graph& graph) {
    const auto is_on_words = [](const Node& node) { return node.op->name().starts_with("word_"); };
    // A program that only moves words has no such node; its borders say that they are words.
    return !graph.state.empty() || std::ranges::any_of(graph.nodes, is_on_words) ||
           std::ranges::any_of(graph.values, [](const Value& value) { return value.file_type.has_value(); });
}

}  // namespace systole::ir

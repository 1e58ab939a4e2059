// Replaces the nodes of a float graph by primitives whose attributes state every bit of their results.
#include "compiler/passes/compute_in_words.h"

#include <fmt/format.h>

#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words_builder.h"

namespace systole::passes {
namespace {

/// Networks whose authors quantized them, and nodes on whole numbers, have other machines.
void check_floats(const ir::Graph& graph) {
    for (const ir::Value& value : graph.values) {
        if (value.constant || value.type == DataType::Float32) continue;
        throw ModelError(
            fmt::format("{}: its value {} is {}; machines with a tensor core compute in bfloat16 "
                        "and float32, and their networks must be in float32",
                        graph.name, in_quotes(value.name), name_of(value.type)));
    }
}

}  // namespace

ir::Graph compute_in_words(const ir::Graph& graph, const ir::WordsOptions& options) {
    check_floats(graph);
    operators::WordsBuilder builder(graph, options);
    for (const ir::Node& node : graph.nodes) builder.add(node);
    return std::move(builder).finish();
}

}  // namespace systole::passes

// Replaces the nodes of a float graph by primitives whose attributes state every bit of their results.
#include "compiler/passes/compute_in_words.h"

#include <fmt/format.h>

#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"

namespace systole::passes {
namespace {

/// Networks whose authors quantized them have other machines. Of the others, only nodes that work on words
/// have values of other types than float32; truth values do not cross the network's border.
void check_types(const ir::Graph& graph) {
    const auto check = [&](ir::ValueId id, bool takes_words) {
        const ir::Value& value = graph.values[id];
        if (value.constant || value.type == DataType::Float32) return;
        const bool is_at_border = ir::is_input(graph, id) || ir::is_output(graph, id);
        const DataType type = is_at_border ? value.type : operators::type_in_words(value);
        if (takes_words && operators::is_word_type(type) && !value.quantization) return;
        throw ModelError(
            fmt::format("{}: its value {} is {}; machines with a tensor core compute in bfloat16 "
                        "and float32, and their networks must be in float32",
                        graph.name, in_quotes(value.name), name_of(value.type)));
    };
    for (const ir::Node& node : graph.nodes) {
        const bool takes_words = operators::operator_of(node).takes_words();
        for (const ir::ValueId id : node.inputs) check(id, takes_words);
        for (const ir::ValueId id : node.outputs) check(id, takes_words);
    }
}

}  // namespace

ir::Graph compute_in_words(const ir::Graph& graph, const ir::WordsOptions& options) {
    check_types(graph);
    operators::WordsBuilder builder(graph, options);
    for (const ir::Node& node : graph.nodes) builder.add(node);
    return std::move(builder).finish();
}

}  // namespace systole::passes

// Replaces the nodes of a float graph by primitives whose attributes state every bit of their results.
#include "compiler/passes/compute_in_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/border_values.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/pair_function.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"

namespace systole::passes {
namespace {

/// Whether results in uint8 are truth values, if inputs in uint8 are.
bool gives_truths(const ir::Node& node) {
    if (const auto* const pair = dynamic_cast<const operators::PairFunctionOperator*>(node.op)) {
        return pair->is_comparison();
    }
    if (node.is("cast")) return node.integer("truth") != 0;
    return node.is("where") || operators::operator_of(node).moves_elements();
}

/// The constant of truth values as words; nullopt if it has other numbers.
std::optional<ir::Constant> truths_as_words(const ir::Constant& constant) {
    if (!constant.is_known()) return constant;
    const std::span<const std::uint8_t> bytes = constant.bytes();
    if (std::ranges::any_of(bytes, [](std::uint8_t byte) { return byte > 1; })) return std::nullopt;
    return ir::Constant::of(std::vector<std::int32_t>(bytes.begin(), bytes.end()));
}

/// The graph with the truth values inside of it, which networks have in uint8, as words. Values of uint8 that
/// may be other numbers stay.
ir::Graph with_truths_as_words(ir::Graph graph) {
    const ir::BorderValues border(graph);
    const auto is_of_bytes = [&](ir::ValueId id) {
        return graph.values[id].type == DataType::Uint8 && !graph.values[id].quantization;
    };
    for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
        ir::Value& value = graph.values[id];
        if (!is_of_bytes(id) || !value.constant) continue;
        auto words = truths_as_words(*value.constant);
        if (!words) continue;
        value.constant = *std::move(words);
        value.type = DataType::Int32;
    }
    for (const ir::Node& node : graph.nodes) {
        if (!gives_truths(node) || std::ranges::any_of(node.inputs, is_of_bytes)) continue;
        for (const ir::ValueId id : node.outputs) {
            if (is_of_bytes(id) && !border.is_output(id)) graph.values[id].type = DataType::Int32;
        }
    }
    return graph;
}

/// Networks whose authors quantized them have other machines. Of the others, only nodes that work on words
/// have values of other types than float32.
void check_types(const ir::Graph& graph) {
    const auto check = [&](ir::ValueId id, bool takes_words) {
        const ir::Value& value = graph.values[id];
        if (value.constant || value.type == DataType::Float32) return;
        if (takes_words && operators::is_word_type(value.type) && !value.quantization) return;
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
    const ir::Graph typed = with_truths_as_words(graph);
    check_types(typed);
    operators::WordsBuilder builder(typed, options);
    for (const ir::Node& node : typed.nodes) builder.add(node);
    return std::move(builder).finish();
}

}  // namespace systole::passes

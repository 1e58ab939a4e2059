// Gives the inputs of a concatenation or a dense layer the same range, so that no branch has to be rescaled.
#include "compiler/passes/unite_ranges.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "compiler/ir/border_values.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

using ir::Graph;
using ir::ValueId;
using Producers = std::vector<std::optional<ir::NodeId>>;

/// Disjoint sets of values; each set is represented by one of its values.
class ValueSets {
public:
    explicit ValueSets(std::size_t values) : parents_(values) {
        std::iota(parents_.begin(), parents_.end(), ValueId{0});
    }

    ValueId find(ValueId value) {
        while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
        return value;
    }
    void unite(ValueId a, ValueId b) { parents_[find(a)] = find(b); }

private:
    std::vector<ValueId> parents_;
};

/// The value whose elements a value holds, moved but not scaled: the input of the node that computes it.
std::optional<ValueId> moved_from(const Graph& graph, const Producers& producers, ValueId value) {
    if (!producers[value]) return std::nullopt;
    const ir::Node& node = graph.nodes[*producers[value]];
    if (!operators::operator_of(node).moves_elements()) return std::nullopt;
    return node.inputs.front();
}

}  // namespace

Graph unite_ranges(Graph graph) {
    if (operators::is_quantized(graph)) return graph;
    const Producers producers = ir::producers(graph);
    const std::vector<ValueId> sources = operators::moved_sources(graph);
    const ir::BorderValues border(graph);
    ValueSets sets(graph.values.size());
    std::vector<bool> is_united(graph.values.size(), false);  // with what its elements come from
    const auto unite = [&](ValueId input, ValueId with) {
        sets.unite(input, with);
        while (!is_united[input]) {
            is_united[input] = true;
            const auto from = moved_from(graph, producers, input);
            if (!from) break;
            sets.unite(*from, input);
            input = *from;
        }
    };
    for (const ir::Node& node : graph.nodes) {
        if (node.is("concat")) {
            for (const ValueId input : node.inputs) {
                // The network's input keeps its own range; that of the concatenation covers it.
                if (!border.is_input(sources[input])) unite(input, node.output());
            }
        }
        if (node.is("dense")) {
            std::optional<ValueId> first;
            const std::size_t inputs = ir::NodeView(graph, node).data_inputs();
            for (const ValueId input : std::span(node.inputs).first(inputs)) {
                const ValueId source = sources[input];
                if (border.is_input(source) && graph.values[source].stored_as == DataType::Uint8) continue;
                if (first) unite(input, *first);
                if (!first) unite(first.emplace(input), input);
            }
        }
    }
    std::vector<ir::Range> united(graph.values.size());
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        if (!graph.values[id].range) continue;
        ir::Range& range = united[sets.find(id)];
        range.minimum = std::min(range.minimum, graph.values[id].range->minimum);
        range.maximum = std::max(range.maximum, graph.values[id].range->maximum);
    }
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        if (graph.values[id].range) graph.values[id].range = united[sets.find(id)];
    }
    return graph;
}

}  // namespace systole::passes

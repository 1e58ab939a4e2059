// Gives the inputs of a concatenation or a dense layer the same range, so that few branches have to be
// rescaled.
#include "compiler/passes/unite_ranges.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/ir/encoding.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/shared_values.h"

namespace systole::passes {
namespace {

using ir::Graph;
using ir::ValueId;

/// The distance between the ends of a range.
double width_of(const ir::Range& range) {
    return double{range.maximum} - double{range.minimum};
}

/// Disjoint sets of values that get one range, the union of theirs; each set is represented by one of its
/// values.
class RangeSets {
public:
    explicit RangeSets(const Graph& graph) : parents_(graph.values.size()), sets_(graph.values.size()) {
        std::iota(parents_.begin(), parents_.end(), ValueId{0});
        for (ValueId id = 0; id < parents_.size(); ++id) {
            const ir::Range range = graph.values[id].range.value_or(ir::Range());
            sets_[id] = {.range = range, .narrowest = width_of(range)};
        }
    }

    void unite(ValueId a, ValueId b) {
        const ValueId from = find(a);
        const ValueId to = find(b);
        parents_[from] = to;
        sets_[to].range = ir::union_of(sets_[from].range, sets_[to].range);
        sets_[to].narrowest = std::min(sets_[from].narrowest, sets_[to].narrowest);
    }

    /// Makes the set's range count as that of one tensor, which no member can do without.
    void settle(ValueId value) {
        Set& set = sets_[find(value)];
        set.narrowest = width_of(set.range);
    }

    /// Whether the values of two sets should have one range. With a range of their own that is less than half
    /// as wide, those of the narrower set gain a bit. That is worth rounding them once more for the other
    /// one.
    bool are_similar(ValueId a, ValueId b) {
        const Set& first = sets_[find(a)];
        const Set& second = sets_[find(b)];
        const double narrowest = std::min(first.narrowest, second.narrowest);
        return width_of(ir::union_of(first.range, second.range)) <= 2.0 * narrowest;
    }

    const ir::Range& range(ValueId value) { return sets_[find(value)].range; }

private:
    struct Set {
        ir::Range range;
        double narrowest = 0.0;  ///< width of the range of any member
    };

    ValueId find(ValueId value) {
        while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
        return value;
    }

    std::vector<ValueId> parents_;
    std::vector<Set> sets_;  ///< by representative
};

/// The sets of values of a graph, which are united step by step.
class Uniting {
public:
    explicit Uniting(const Graph& graph)
        : graph_(graph),
          border_(graph),
          producers_(ir::producers(graph)),
          sources_(operators::moved_sources(graph)),
          shared_(graph),
          sets_(graph),
          is_united_(graph.values.size(), false) {}

    /// The results of a repeated part: all its nodes are to be stored and computed alike.
    void unite_repeated_parts() {
        for (const std::vector<ir::NodeId>& part : ir::repeated_nodes(graph_)) {
            std::optional<ValueId> first;
            for (const ir::NodeId id : part) {
                const ir::Node& node = graph_.nodes[id];
                // What is moved has the range of what it is moved from.
                if (operators::operator_of(node).moves_elements()) continue;
                if (first) sets_.unite(node.output(), *first);
                if (!first) first = node.output();
            }
            if (first) sets_.settle(*first);
        }
    }

    /// First the values that only one node reads: nothing else depends on their range.
    void unite_private_inputs() {
        for (const ir::Node& node : graph_.nodes) {
            for_each_united(node, [&](ValueId input, ValueId with) {
                if (!shared_.is_shared(input, node)) unite(input, with);
            });
        }
        for (ValueId id = 0; id < graph_.values.size(); ++id) sets_.settle(id);
    }

    /// Then the others, where their own range is about as wide. From the last node to the first: a
    /// concatenation's result is as wide as its inputs, so the widest range of a chain decides.
    void unite_similar_inputs() {
        for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
            const ir::Node& node = graph_.nodes[i];
            for_each_united(node, [&](ValueId input, ValueId with) {
                if (shared_.is_shared(input, node) && sets_.are_similar(sources_[input], with))
                    unite(input, with);
            });
        }
    }

    const ir::Range& range(ValueId value) { return sets_.range(value); }

private:
    /// Calls visit(input, value) for each input of a concatenation, or of a dense layer with several, and the
    /// value with which its range may be united.
    template <typename Visit>
    void for_each_united(const ir::Node& node, const Visit& visit) const {
        if (node.is("concat")) {
            for (const ValueId input : node.inputs) {
                // The network's input keeps its own range; that of the concatenation covers it.
                if (!border_.is_input(sources_[input])) visit(input, node.output());
            }
        }
        if (node.is("dense")) {
            std::vector<ValueId> inputs;
            for (const ValueId input :
                 std::span(node.inputs).first(ir::NodeView(graph_, node).data_inputs())) {
                const ValueId source = sources_[input];
                const bool is_given =
                    border_.is_input(source) && graph_.values[source].stored_as == DataType::Uint8;
                if (!is_given) inputs.push_back(input);
            }
            if (inputs.empty()) return;
            // One that no other node reads takes any range.
            const auto first =
                std::ranges::find_if(inputs, [&](ValueId input) { return !shared_.is_shared(input, node); });
            const ValueId with = first == inputs.end() ? inputs.front() : *first;
            for (const ValueId input : inputs) visit(input, with);
        }
    }

    /// The value whose elements a value holds, moved but not scaled: the input of the node that computes it.
    std::optional<ValueId> moved_from(ValueId value) const {
        if (!producers_[value]) return std::nullopt;
        const ir::Node& node = graph_.nodes[*producers_[value]];
        if (!operators::operator_of(node).moves_elements()) return std::nullopt;
        return node.inputs.front();
    }

    void unite(ValueId input, ValueId with) {
        sets_.unite(input, with);
        while (!is_united_[input]) {
            is_united_[input] = true;
            const auto from = moved_from(input);
            if (!from) break;
            sets_.unite(*from, input);
            input = *from;
        }
    }

    const Graph& graph_;
    const ir::BorderValues border_;
    const std::vector<std::optional<ir::NodeId>> producers_;
    const std::vector<ValueId> sources_;  ///< moved_sources
    const operators::SharedValues shared_;
    RangeSets sets_;
    std::vector<bool> is_united_;  ///< by value: with what its elements come from
};

}  // namespace

Graph unite_ranges(Graph graph) {
    if (ir::is_quantized(graph)) return graph;
    Uniting uniting(graph);
    uniting.unite_repeated_parts();
    uniting.unite_private_inputs();
    uniting.unite_similar_inputs();
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        if (graph.values[id].range) graph.values[id].range = uniting.range(id);
    }
    return graph;
}

}  // namespace systole::passes

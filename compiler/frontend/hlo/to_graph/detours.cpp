// Counts what a program asks for and the machine does the long way.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"

namespace systole::hlo {
namespace {

/// By node: whether an output of the graph needs it.
std::vector<bool> needed_nodes(const ir::Graph& graph) {
    std::vector<bool> is_read(graph.values.size(), false);
    for (const ir::ValueId id : graph.outputs) is_read[id] = true;
    std::vector<bool> is_needed(graph.nodes.size(), false);
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const ir::Node& node = graph.nodes[i];
        is_needed[i] = std::ranges::any_of(node.outputs, [&](ir::ValueId id) { return is_read[id]; });
        if (!is_needed[i]) continue;
        for (const ir::ValueId id : node.inputs) is_read[id] = true;
    }
    return is_needed;
}

}  // namespace

ir::Detours count_detours(const ir::Graph& graph, const DetourNotes& notes) {
    if (notes.choices.empty() && notes.lookups.empty()) return {};
    const std::vector<bool> is_needed = needed_nodes(graph);
    const auto any_needed = [&](const NodeRange& range) {
        return std::any_of(is_needed.begin() + static_cast<std::ptrdiff_t>(range.first),
                           is_needed.begin() + static_cast<std::ptrdiff_t>(range.end),
                           [](bool needed) { return needed; });
    };
    const auto work_of = [&](const NodeRange& range) {
        ir::Detours::Work work;
        for (std::size_t i = range.first; i < range.end; ++i) {
            if (!is_needed[i]) continue;
            const ir::Node& node = graph.nodes[i];
            const std::uint64_t macs = node.op->macs(ir::NodeView(graph, node));
            work.macs += macs;
            if (macs == 0) work.elements += graph.values[node.output()].shape.elements();
        }
        return work;
    };
    ir::Detours detours{.all = work_of({0, graph.nodes.size()})};
    std::vector<std::pair<std::size_t, ir::Detours::Work>> earlier;  // first node, and what is discarded
    for (const std::vector<NodeRange>& branches : notes.choices) {
        if (std::ranges::none_of(branches, any_needed)) continue;
        ++detours.choices;
        ir::Detours::Work all;
        ir::Detours::Work most;
        for (const NodeRange& branch : branches) {
            ir::Detours::Work kept = work_of(branch);
            for (const auto& [node, work] : earlier) {
                if (node < branch.first || node >= branch.end) continue;
                kept.macs -= work.macs;
                kept.elements -= work.elements;
            }
            all.macs += kept.macs;
            all.elements += kept.elements;
            most.macs = std::max(most.macs, kept.macs);
            most.elements = std::max(most.elements, kept.elements);
        }
        const ir::Detours::Work discarded{all.macs - most.macs, all.elements - most.elements};
        // Branches are computed one after the other, the last one first.
        const NodeRange& first = *std::ranges::min_element(branches, {}, &NodeRange::first);
        earlier.emplace_back(first.first, discarded);
        detours.discarded.macs += discarded.macs;
        detours.discarded.elements += discarded.elements;
    }
    for (const DetourNotes::Lookup& lookup : notes.lookups) {
        if (!any_needed(lookup.nodes)) continue;
        detours.found += lookup.found;
        detours.compared += lookup.compared;
    }
    return detours;
}

}  // namespace systole::hlo

#include "compiler/operators/shared_values.h"

#include "compiler/operators/operator.h"

namespace systole::operators {

namespace {

/// By value: whether pooling writes it where its only reader, a concatenation, needs it
/// (compiler/target/tpu_v1/network/tensor_parts.h).
std::vector<bool> pooled_in_place(const ir::Graph& graph) {
    std::vector<bool> in_place(graph.values.size(), false);
    for (const ir::Node& node : graph.nodes) {
        in_place[node.outputs.front()] =
            node.is("max_pool") || node.is("average_pool") || node.is("zero_padding");
    }
    const std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph);
    for (ir::ValueId id = 0; id < in_place.size(); ++id) {
        in_place[id] =
            in_place[id] && readers[id].size() == 1 && graph.nodes[readers[id].front()].is("concat");
    }
    for (const ir::ValueId output : graph.outputs) in_place[output] = false;
    return in_place;
}

}  // namespace

SharedValues::SharedValues(const ir::Graph& graph)
    : graph_(graph), sources_(moved_sources(graph)), readers_(graph.values.size()) {
    for (const ir::ValueId output : graph.outputs) readers_[sources_[output]].is_output = true;
    for (const ir::Node& node : graph.nodes) {
        if (operator_of(node).moves_elements()) continue;
        const ir::ValueId result = node.outputs.front();
        for (const ir::ValueId input : node.inputs) {
            Readers& readers = readers_[sources_[input]];
            if (!readers.first) readers.first = result;
            if (*readers.first != result) readers.has_several = true;
        }
    }
    // What lies in place already would have to be copied, were it converted: more than a lookup. It belongs
    // to its concatenation alone.
    const std::vector<bool> in_place = pooled_in_place(graph);
    for (const ir::Node& node : graph.nodes) {
        if (!node.is("concat")) continue;
        for (const ir::ValueId input : node.inputs) {
            if (!in_place[input]) continue;
            sources_[input] = input;
            readers_[input].first = node.outputs.front();
        }
    }
}

bool SharedValues::is_shared(ir::ValueId input, const ir::Node& reader) const {
    if (graph_.values[input].stored_as != DataType::Uint8) return false;
    const Readers& readers = readers_[sources_[input]];
    return readers.is_output || readers.has_several || readers.first != reader.outputs.front();
}

}  // namespace systole::operators

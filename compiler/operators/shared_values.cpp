#include "compiler/operators/shared_values.h"

#include "compiler/operators/operator.h"

namespace systole::operators {

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
}

bool SharedValues::is_shared(ir::ValueId input, const ir::Node& reader) const {
    if (graph_.values[input].stored_as != DataType::Uint8) return false;
    const Readers& readers = readers_[sources_[input]];
    return readers.is_output || readers.has_several || readers.first != reader.outputs.front();
}

}  // namespace systole::operators

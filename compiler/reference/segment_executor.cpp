#include "compiler/reference/segment_executor.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

namespace systole::reference {

ir::Graph read_segment(std::string_view text) {
    return ir::parse_graph(text, "graph", operators::registry());
}

void execute_segment(const ir::Graph& graph, const SegmentTensors& tensors, std::uint32_t batch) {
    if (tensors.inputs.size() != graph.inputs.size() || tensors.outputs.size() != graph.outputs.size()) {
        throw std::logic_error("a segment with another number of tensors than its graph has");
    }
    const std::vector<TensorBytes> results = run(graph, tensors.inputs, batch);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].size() != tensors.outputs[i].size()) {
            throw std::logic_error("a tensor of another size than its value: " +
                                   graph.values[graph.outputs[i]].name);
        }
        std::ranges::copy(results[i], tensors.outputs[i].begin());
    }
}

}  // namespace systole::reference

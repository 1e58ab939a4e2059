#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

namespace systole::reference {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

/// The last node that reads each value; outputs of the network are kept to the end.
std::vector<NodeId> last_uses(const Graph& graph) {
    std::vector<NodeId> last(graph.values.size(), 0);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ValueId input : graph.nodes[id].inputs) last[input] = id;
    }
    for (const ValueId output : graph.outputs) last[output] = static_cast<NodeId>(graph.nodes.size());
    return last;
}

void evaluate(const Graph& graph, const Node& node, const std::vector<std::vector<float>>& results,
              std::uint32_t batch, float* output) {
    std::vector<const float*> inputs;
    for (const ValueId input : node.inputs) {
        const auto& constant = graph.values[input].constant;
        inputs.push_back(constant ? constant->values<float>().data() : results[input].data());
    }
    operators::operator_of(node).evaluate(
        {.node = ir::NodeView(graph, node), .inputs = inputs, .batch = batch, .output = output});
}

/// Runs the graph on a few images and returns the network's outputs.
std::vector<float> execute_chunk(const Graph& graph, const std::vector<NodeId>& last_use,
                                 std::span<const float> inputs, std::uint32_t batch,
                                 const ValueObserver& observer) {
    std::vector<std::vector<float>> results(graph.values.size());
    results[graph.inputs.front()].assign(inputs.begin(), inputs.end());
    if (observer) observer(graph.inputs.front(), inputs);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph.nodes[id];
        std::vector<float> result(batch * graph.values[node.output()].shape.elements());
        evaluate(graph, node, results, batch, result.data());
        if (observer) observer(node.output(), result);
        results[node.output()] = std::move(result);
        for (const ValueId input : node.inputs) {
            if (last_use[input] == id) std::vector<float>().swap(results[input]);
        }
    }
    return std::move(results[graph.outputs.front()]);
}

/// The number of images whose largest tensor fits in a second-level cache.
std::uint32_t chunk_images(const Graph& graph) {
    constexpr std::uint64_t cached_elements = std::uint64_t{1} << 18;
    constexpr std::uint64_t most_images = 64;
    std::uint64_t largest = 1;
    for (const ir::Value& value : graph.values) {
        if (!value.constant) largest = std::max(largest, value.shape.elements());
    }
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cached_elements / largest, 1, most_images));
}

}  // namespace

std::vector<float> execute(const Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const ValueObserver& observer) {
    const std::uint64_t input_elements = graph.input().shape.elements();
    if (inputs.size() != batch * input_elements) {
        throw ModelError(fmt::format("{}: {} values were given for {} inputs of {}", graph.name,
                                     inputs.size(), batch, ir::to_text(graph.input_map())));
    }
    const std::uint64_t output_elements = graph.output().shape.elements();
    std::vector<float> outputs;
    outputs.reserve(batch * output_elements);
    const std::vector<NodeId> last_use = last_uses(graph);
    const std::uint32_t chunk = chunk_images(graph);
    for (std::uint32_t first = 0; first < batch; first += chunk) {
        const std::uint32_t count = std::min(chunk, batch - first);
        const std::vector<float> some = execute_chunk(
            graph, last_use, inputs.subspan(first * input_elements, count * input_elements), count, observer);
        outputs.insert(outputs.end(), some.begin(), some.end());
    }
    return outputs;
}

std::vector<std::uint32_t> argmax(std::span<const float> outputs, std::uint32_t batch) {
    std::vector<std::uint32_t> classes;
    const std::size_t elements = batch == 0 ? 0 : outputs.size() / batch;
    for (std::uint32_t i = 0; i < batch; ++i) {
        const auto output = outputs.subspan(i * elements, elements);
        classes.push_back(static_cast<std::uint32_t>(std::ranges::max_element(output) - output.begin()));
    }
    return classes;
}

}  // namespace systole::reference

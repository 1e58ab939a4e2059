#include "compiler/reference/float_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::reference {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Shape;

/// The last node that reads each node's result; the output's is kept to the end.
std::vector<NodeId> last_uses(const Graph& graph) {
    std::vector<NodeId> last(graph.nodes.size(), 0);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const NodeId input : graph.nodes[id].inputs) last[input] = id;
    }
    return last;
}

void evaluate(const Graph& graph, const Node& node, const std::vector<std::vector<float>>& results,
              std::uint32_t batch, float* output) {
    const std::vector<Shape> shapes = graph::input_shapes(graph, node);
    std::vector<const float*> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(results[input].data());
    node.op->evaluate(shapes, inputs, batch, output);
}

/// Runs the graph on a few images and returns the last node's result.
std::vector<float> execute_chunk(const Graph& graph, const std::vector<NodeId>& last_use,
                                 std::span<const float> inputs, std::uint32_t batch,
                                 const NodeObserver& observer) {
    std::vector<std::vector<float>> results;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph.nodes[id];
        if (id == 0) {
            results.emplace_back(inputs.begin(), inputs.end());
        } else {
            std::vector<float> result(batch * node.shape.elements());
            evaluate(graph, node, results, batch, result.data());
            results.push_back(std::move(result));
        }
        if (observer) observer(id, results.back());
        for (const NodeId input : node.inputs) {
            if (last_use[input] == id) std::vector<float>().swap(results[input]);
        }
    }
    return std::move(results.back());
}

/// Images whose largest tensor fits a second-level cache.
std::uint32_t chunk_images(const Graph& graph) {
    constexpr std::uint64_t cached_elements = std::uint64_t{1} << 18;
    constexpr std::uint64_t most_images = 64;
    std::uint64_t largest = 1;
    for (const Node& node : graph.nodes) largest = std::max(largest, node.shape.elements());
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cached_elements / largest, 1, most_images));
}

}  // namespace

std::vector<float> execute(const Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const NodeObserver& observer) {
    if (graph.nodes.empty()) throw std::logic_error("a graph has at least an input");
    const std::uint64_t input_elements = graph.input_shape().elements();
    if (inputs.size() != batch * input_elements) {
        throw ModelError(fmt::format("{}: {} values were given for {} inputs of {}", graph.name,
                                     inputs.size(), batch, graph::to_text(graph.input_shape())));
    }
    const std::uint64_t output_elements = graph.output_shape().elements();
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

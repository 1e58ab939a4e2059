#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

/// Tensors in the order of axes of a network's file, which passes may change inside (ir::Value::file_axes).
namespace systole::tests {

/// The result in the order of the file.
inline std::vector<float> in_file_order(const ir::Value& value, const std::vector<float>& elements) {
    if (value.file_axes.empty()) return elements;
    ir::Graph graph;
    const ir::ValueId id = graph.add_constant("v", value.shape, DataType::Float32, elements);
    std::vector<std::int64_t> axes(value.file_axes.begin(), value.file_axes.end());
    const ir::ValueId moved =
        graph.append("t", operators::registry().at("transpose"), {{"permutation", axes}}, {id});
    graph.fold_last_node();
    const auto contents = graph.values[moved].constant->values<float>();
    return {contents.begin(), contents.end()};
}

/// The elements of an input of the file in the order of the graph.
inline std::vector<float> in_graph_order(const ir::Value& value, const std::vector<float>& elements) {
    if (value.file_axes.empty()) return elements;
    ir::Value file;
    std::vector<std::uint32_t> extents(value.file_axes.size());
    file.file_axes.resize(value.file_axes.size());
    for (std::uint32_t i = 0; i < extents.size(); ++i) {
        extents[i] = value.shape[value.file_axes[i]];
        file.file_axes[value.file_axes[i]] = i;
    }
    file.shape = ir::Shape(extents);
    return in_file_order(file, elements);
}

/// The elements of one inference after the other, each moved.
template <typename Move>
std::vector<float> moved_each(const ir::Value& value, const std::vector<float>& elements, const Move& move) {
    const auto each = static_cast<std::ptrdiff_t>(value.shape.elements());
    std::vector<float> result;
    for (auto first = elements.begin(); first != elements.end(); first += each) {
        const std::vector<float> moved = move(value, std::vector<float>(first, first + each));
        result.insert(result.end(), moved.begin(), moved.end());
    }
    return result;
}

/// The inputs of the file for a number of inferences in the order of the graph.
inline std::vector<std::vector<float>> in_graph_order(const ir::Graph& graph,
                                                      const std::vector<std::vector<float>>& inputs) {
    const auto move = [](const ir::Value& value, const std::vector<float>& elements) {
        return in_graph_order(value, elements);
    };
    std::vector<std::vector<float>> moved;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        moved.push_back(moved_each(graph.values[graph.inputs[i]], inputs[i], move));
    }
    return moved;
}

/// The outputs of a network for `batch` inferences; inputs and outputs are in the order of the file.
inline std::vector<std::vector<float>> run_in_file_order(const ir::Graph& graph,
                                                         const std::vector<std::vector<float>>& inputs,
                                                         std::uint32_t batch) {
    const std::vector<std::vector<float>> moved = in_graph_order(graph, inputs);
    const std::vector<std::span<const float>> spans(moved.begin(), moved.end());
    std::vector<std::vector<float>> outputs = reference::execute(graph, spans, batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        outputs[i] = moved_each(graph.values[graph.outputs[i]], outputs[i], in_file_order);
    }
    return outputs;
}

/// The output of a network with one input and one output.
inline std::vector<float> run_in_file_order(const ir::Graph& graph, const std::vector<float>& input) {
    const std::vector<float> result = reference::execute(graph, in_graph_order(graph.input(), input), 1);
    return in_file_order(graph.output(), result);
}

}  // namespace systole::tests

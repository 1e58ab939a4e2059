#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/layer_context.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

/// Nodes of network files, read and computed one by one.
namespace systole::tests::nodes {

/// An input of a node, or its result.
struct Tensor {
    ir::Shape shape;
    DataType type = DataType::Float32;
    std::vector<std::uint8_t> bytes = {};
    std::optional<ir::Quantization> quantization = {};
    bool is_constant = false;
    bool is_absent = false;

    bool operator==(const Tensor& other) const {
        return shape == other.shape && type == other.type && bytes == other.bytes;
    }
    template <typename Number>
    std::vector<Number> numbers() const {
        std::vector<Number> result(bytes.size() / sizeof(Number));
        std::memcpy(result.data(), bytes.data(), bytes.size());
        return result;
    }
    std::vector<float> reals() const { return numbers<float>(); }
    std::vector<std::int32_t> integers() const { return numbers<std::int32_t>(); }
};

template <typename Number>
Tensor tensor_of(const ir::Shape& shape, DataType type, const std::vector<Number>& numbers) {
    REQUIRE(numbers.size() == shape.elements());
    Tensor tensor{.shape = shape, .type = type};
    tensor.bytes.resize(numbers.size() * sizeof(Number));
    if (!numbers.empty()) std::memcpy(tensor.bytes.data(), numbers.data(), tensor.bytes.size());
    return tensor;
}
inline Tensor reals(const ir::Shape& shape, const std::vector<float>& numbers) {
    return tensor_of(shape, DataType::Float32, numbers);
}
inline Tensor integers(const ir::Shape& shape, const std::vector<std::int32_t>& numbers) {
    return tensor_of(shape, DataType::Int32, numbers);
}
/// Numbers first, first + 1, ...
inline Tensor counted_reals(const ir::Shape& shape, float first = 0.0F) {
    std::vector<float> numbers(shape.elements());
    for (float& number : numbers) number = first++;
    return reals(shape, numbers);
}
inline Tensor quantized(const ir::Shape& shape, double scale, std::int32_t zero_point,
                        const std::vector<std::int8_t>& numbers) {
    Tensor tensor = tensor_of(shape, DataType::Int8, numbers);
    tensor.quantization = ir::Quantization{{scale}, {zero_point}, {}};
    return tensor;
}
inline Tensor constant(Tensor tensor) {
    tensor.is_constant = true;
    return tensor;
}
/// A constant list of int32.
inline Tensor list(const std::vector<std::int32_t>& numbers) {
    return constant(integers({static_cast<std::uint32_t>(numbers.size())}, numbers));
}
inline Tensor absent() {
    return {.shape = {}, .is_absent = true};
}
inline ir::ResultType int8_type(double scale, std::int32_t zero_point) {
    return {DataType::Int8, ir::Quantization{{scale}, {zero_point}, {}}};
}

/// Weights that a test gives by their first role.
struct NoWeights final : frontend::WeightProvider {
    std::vector<float> values;

    ir::Constant provide(const frontend::LayerConfig& /*layer*/, const std::string& /*layer_name*/,
                         const ir::WeightRequest& request) override {
        REQUIRE(values.size() == request.shape.elements());
        return ir::Constant::of(values);
    }
};

/// A node of a file.
struct FileNode {
    ir::Format format = ir::Format::Onnx;
    std::string name;
    nlohmann::json attributes = nlohmann::json::object();
    std::vector<ir::ResultType> declared = {};
    std::vector<float> weights = {};
};

inline FileNode onnx(const std::string& name, nlohmann::json attributes = nlohmann::json::object()) {
    return {.format = ir::Format::Onnx, .name = name, .attributes = std::move(attributes)};
}
inline FileNode tflite(const std::string& name, nlohmann::json attributes = nlohmann::json::object(),
                       std::vector<ir::ResultType> declared = {{}}) {
    return {.format = ir::Format::Tflite,
            .name = name,
            .attributes = std::move(attributes),
            .declared = std::move(declared)};
}
inline FileNode keras(const std::string& name, nlohmann::json attributes = nlohmann::json::object()) {
    return {.format = ir::Format::Keras, .name = name, .attributes = std::move(attributes)};
}

/// The graph of one node of a file.
inline ir::Graph read_node(const FileNode& node, const std::vector<Tensor>& inputs) {
    NoWeights weights;
    weights.values = node.weights;
    frontend::GraphBuilder builder{
        .format = node.format, .operators = operators::registry(), .weights = weights};
    builder.graph.name = "made";
    std::vector<ir::ValueId> ids;
    for (const Tensor& input : inputs) {
        if (input.is_absent) {
            ids.push_back(ir::no_value);
            continue;
        }
        const auto id =
            builder.graph.add_constant("input", input.shape, input.type, ir::Constant::of(input.bytes));
        ir::Value& value = builder.graph.values[id];
        value.quantization = input.quantization;
        if (!input.is_constant) {
            value.constant.reset();
            builder.graph.inputs.push_back(id);
        }
        ids.push_back(id);
    }
    const ir::LayerKind* const kind = operators::registry().find_layer(node.format, node.name);
    REQUIRE(kind != nullptr);
    frontend::LayerContext context(builder, *kind, node.attributes, "node", ids, DataType::Uint8,
                                   node.declared);
    builder.graph.outputs = kind->build(context);
    return std::move(builder.graph);
}

inline std::vector<Tensor> results_of(const ir::Graph& graph,
                                      const std::vector<std::vector<std::uint8_t>>& inputs,
                                      std::uint32_t batch) {
    std::vector<std::span<const std::uint8_t>> spans(inputs.begin(), inputs.end());
    std::vector<Tensor> results;
    const std::vector<reference::TensorBytes> outputs = reference::run(graph, spans, batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ir::Value& value = graph.values[graph.outputs[i]];
        results.push_back({.shape = value.shape, .type = value.type, .bytes = outputs[i]});
    }
    return results;
}

/// The results of a node of a file. Two different inferences at once must have the same results as one by
/// one.
inline std::vector<Tensor> compute_all(const FileNode& node, const std::vector<Tensor>& inputs) {
    const ir::Graph graph = read_node(node, inputs);
    std::vector<std::vector<std::uint8_t>> first;
    std::vector<std::vector<std::uint8_t>> second;
    std::vector<std::vector<std::uint8_t>> both;
    for (const Tensor& input : inputs) {
        if (input.is_absent || input.is_constant) continue;
        first.push_back(input.bytes);
        // Its elements in the opposite order.
        const std::size_t size = bytes_of(input.type);
        std::vector<std::uint8_t> reversed;
        for (std::size_t i = input.bytes.size(); i > 0; i -= size) {
            reversed.insert(reversed.end(), input.bytes.begin() + static_cast<std::ptrdiff_t>(i - size),
                            input.bytes.begin() + static_cast<std::ptrdiff_t>(i));
        }
        second.push_back(reversed);
        both.push_back(input.bytes);
        both.back().insert(both.back().end(), reversed.begin(), reversed.end());
    }
    if (!graph.inputs.empty()) REQUIRE(ir::find_fault(graph) == std::nullopt);
    std::vector<Tensor> results = results_of(graph, first, 1);
    if (!graph.inputs.empty()) {
        const std::vector<Tensor> others = results_of(graph, second, 1);
        const std::vector<Tensor> together = results_of(graph, both, 2);
        for (std::size_t i = 0; i < results.size(); ++i) {
            std::vector<std::uint8_t> expected = results[i].bytes;
            expected.insert(expected.end(), others[i].bytes.begin(), others[i].bytes.end());
            CHECK(together[i].bytes == expected);
        }
    }
    return results;
}
inline Tensor compute(const FileNode& node, const std::vector<Tensor>& inputs) {
    return compute_all(node, inputs).at(0);
}

/// Whether numbers are equal but for rounding.
inline bool are_close(const std::vector<float>& a, const std::vector<float>& b, float tolerance = 1e-5F) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!(std::abs(a[i] - b[i]) <= tolerance * std::max(1.0F, std::abs(b[i])))) return false;
    }
    return true;
}

}  // namespace systole::tests::nodes

#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"

namespace systole::tests {

/// The parts of a new node: its operator, attributes and constants. Members that the operator does not need
/// stay empty.
struct Op {
    std::string name;
    std::vector<ir::NamedAttribute> attributes = {};
    ir::Shape weights_shape = {};
    std::vector<float> weights = {};
    std::vector<float> bias = {};
    /// For batch normalization: gamma, beta, mean, variance.
    std::vector<std::vector<float>> by_channel = {};
};

inline Op op(const std::string& name, std::vector<ir::NamedAttribute> attributes = {}) {
    return {.name = name, .attributes = std::move(attributes)};
}
inline Op pool(const std::string& kind, const ir::Window& window) {
    return op(kind, ir::attributes_of(window));
}
inline Op max_pool(const ir::Window& window) {
    return pool("max_pool", window);
}
inline Op reshape(const ir::FeatureMap& map) {
    const bool flat = map.is_vector();
    std::vector<std::int64_t> shape{1, map.channels};
    if (!flat) shape = {1, map.height, map.width, map.channels};
    return op("reshape", {{"shape", shape}});
}
inline Op slice(std::uint32_t first, std::uint32_t count) {
    return op("slice", {{"first", std::int64_t{first}}, {"count", std::int64_t{count}}});
}
inline Op zero_padding(std::uint32_t top, std::uint32_t left, std::uint32_t bottom, std::uint32_t right) {
    return op("zero_padding", {{"padding", std::vector<std::int64_t>{top, left, bottom, right}}});
}
inline Op convolution(const ir::Window& window, std::uint32_t channels, std::uint32_t filters,
                      std::vector<float> weights, std::vector<float> bias = {}) {
    return {.name = "convolution",
            .attributes = ir::attributes_of(window),
            .weights_shape = {window.kernel_height, window.kernel_width, channels, filters},
            .weights = std::move(weights),
            .bias = std::move(bias)};
}
inline Op dense(std::uint32_t elements, std::uint32_t units, std::vector<float> weights,
                std::vector<float> bias = {}) {
    return {.name = "dense",
            .weights_shape = {elements, units},
            .weights = std::move(weights),
            .bias = std::move(bias)};
}

/// Adds the constants of a new node and returns the inputs followed by them.
inline std::vector<ir::ValueId> with_constants(ir::Graph& graph, const Op& made, const std::string& name,
                                               std::vector<ir::ValueId> inputs) {
    const auto add = [&](const ir::Shape& shape, const std::vector<float>& values) {
        inputs.push_back(graph.add_constant(name + "/constant", shape, DataType::Float32, values));
    };
    const auto vector_of = [](const std::vector<float>& values) {
        return ir::Shape{static_cast<std::uint32_t>(values.size())};
    };
    if (made.weights_shape.rank() > 0) add(made.weights_shape, made.weights);
    if (!made.bias.empty()) add(vector_of(made.bias), made.bias);
    for (const std::vector<float>& values : made.by_channel) add(vector_of(values), values);
    return inputs;
}

/// Draws the parts of float graphs. Every message of a test that uses it contains the seed.
class GraphParts {
public:
    explicit GraphParts(std::uint32_t seed) : random_(seed) {}

    std::uint32_t number(std::uint32_t first, std::uint32_t last) {
        return std::uniform_int_distribution<std::uint32_t>(first, last)(random_);
    }
    std::vector<float> values(std::uint64_t count, float low = -1.0F, float high = 1.0F) {
        std::uniform_real_distribution<float> distribution(low, high);
        std::vector<float> drawn(count);
        for (float& value : drawn) value = distribution(random_);
        return drawn;
    }
    ir::FeatureMap shape() { return {number(1, 9), number(1, 9), number(1, 5)}; }
    /// A window that fits the shape; each padding smaller than the kernel.
    ir::Window window(const ir::FeatureMap& shape) {
        ir::Window window;
        window.kernel_height = number(1, shape.height);
        window.kernel_width = number(1, shape.width);
        window.stride_y = number(1, 3);
        window.stride_x = number(1, 3);
        window.pad_top = number(0, window.kernel_height - 1);
        window.pad_bottom = number(0, window.kernel_height - 1);
        window.pad_left = number(0, window.kernel_width - 1);
        window.pad_right = number(0, window.kernel_width - 1);
        return window;
    }
    Op convolution(const ir::FeatureMap& input, const ir::Window& window, std::uint32_t filters, bool bias) {
        Op drawn = tests::convolution(window, input.channels, filters,
                                      values(window.kernel_elements() * input.channels * filters));
        if (bias) drawn.bias = values(filters);
        return drawn;
    }
    Op depthwise(const ir::FeatureMap& input, const ir::Window& window, std::uint32_t multiplier, bool bias) {
        const std::uint32_t channels = input.channels * multiplier;
        Op drawn{.name = "depthwise_convolution",
                 .attributes = ir::attributes_of(window),
                 .weights_shape = {window.kernel_height, window.kernel_width, 1, channels},
                 .weights = values(window.kernel_elements() * channels)};
        drawn.attributes.emplace_back("multiplier", std::int64_t{multiplier});
        if (bias) drawn.bias = values(channels);
        return drawn;
    }
    Op dense(const ir::FeatureMap& input, std::uint32_t units, bool bias) {
        Op drawn = tests::dense(static_cast<std::uint32_t>(input.elements()), units,
                                values(input.elements() * units));
        if (bias) drawn.bias = values(units);
        return drawn;
    }
    Op batch_normalization(std::uint32_t channels) {
        Op drawn = op("batch_normalization");
        drawn.by_channel.push_back(values(channels, -2.0F, 2.0F));
        drawn.by_channel.push_back(values(channels));
        drawn.by_channel.push_back(values(channels));
        drawn.by_channel.push_back(values(channels, 0.1F, 3.0F));
        return drawn;
    }

private:
    std::mt19937 random_;
};

/// A position in Graph below: 0 is the network's input, the others are nodes in their order.
using NodeId = std::uint32_t;

/// Builds a graph node by node; the last node is the output. Nodes are numbered, and the input is number 0;
/// constants have no numbers.
class Graph {
public:
    explicit Graph(const ir::FeatureMap& input, std::uint8_t bits = 8) {
        graph_.name = "made";
        const ir::Shape shape = input.is_vector() ? ir::vector_shape(input.channels) : ir::image_shape(input);
        values_.push_back(graph_.add_input("input", shape, type_of(bits)));
        graph_.outputs = {values_.back()};
    }

    NodeId append(const std::string& name, const Op& made, const std::vector<NodeId>& from,
                  std::uint8_t bits = 8) {
        std::vector<ir::ValueId> inputs;
        for (const NodeId id : from) inputs.push_back(values_.at(id));
        values_.push_back(graph_.append(name, operators::registry().at(made.name), made.attributes,
                                        with_constants(graph_, made, name, std::move(inputs)),
                                        type_of(bits)));
        graph_.outputs = {values_.back()};
        return static_cast<NodeId>(values_.size() - 1);
    }

    /// NOLINTNEXTLINE(google-explicit-constructor): a graph that is made is a graph
    operator const ir::Graph&() const { return graph_; }
    const ir::Graph& get() const { return graph_; }
    ir::Graph& get() { return graph_; }
    std::size_t size() const { return values_.size(); }

    ir::ValueId value(NodeId id) const { return values_.at(id); }
    ir::FeatureMap shape(NodeId id) const { return ir::feature_map(graph_.values[value(id)].shape); }
    void store(NodeId id, std::uint8_t bits) { graph_.values[value(id)].stored_as = type_of(bits); }
    ir::FeatureMap input_shape() const { return graph_.input_map(); }
    ir::FeatureMap output_shape() const { return graph_.output_map(); }

    /// For each value of the graph, what a list by number has for it.
    template <typename Element>
    std::vector<Element> by_value(const std::vector<Element>& by_number) const {
        std::vector<Element> elements(graph_.values.size());
        for (std::size_t i = 0; i < values_.size(); ++i) elements[values_[i]] = by_number[i];
        return elements;
    }

private:
    static DataType type_of(std::uint8_t bits) { return bits == 16 ? DataType::Int16 : DataType::Uint8; }

    ir::Graph graph_;
    std::vector<ir::ValueId> values_;
};

/// Begins a graph with an input of this shape.
inline Graph graph_of(const ir::FeatureMap& input) {
    return Graph(input);
}

/// A graph of one node on inputs of these shapes. Passes on the operator's exceptions.
inline ir::Graph one_node(const Op& made, const std::vector<ir::FeatureMap>& shapes) {
    ir::Graph graph;
    graph.name = "made";
    std::vector<ir::ValueId> inputs;
    for (const ir::FeatureMap& shape : shapes) {
        inputs.push_back(static_cast<ir::ValueId>(graph.values.size()));
        graph.values.push_back({.name = "input", .shape = ir::image_shape(shape)});
    }
    graph.inputs = inputs;
    ir::Node node{.name = "node",
                  .op = &operators::registry().at(made.name),
                  .attributes = {},
                  .inputs = with_constants(graph, made, "node", inputs),
                  .outputs = {static_cast<ir::ValueId>(graph.values.size())}};
    node.attributes = ir::complete_attributes(*node.op, made.attributes);
    const ir::Shape result = node.op->output_shapes({graph, node}).front();
    graph.values.push_back({.name = "node", .shape = result});
    graph.outputs = node.outputs;
    graph.nodes.push_back(std::move(node));
    return graph;
}

/// The shape of a node's result for inputs of these shapes.
inline ir::FeatureMap output_shape(const Op& made, const std::vector<ir::FeatureMap>& shapes) {
    return one_node(made, shapes).output_map();
}

/// Computes one operator on packed inputs.
inline std::vector<float> evaluate(const Op& made, const std::vector<ir::FeatureMap>& shapes,
                                   const std::vector<std::vector<float>>& inputs, std::uint32_t batch) {
    const ir::Graph graph = one_node(made, shapes);
    const ir::Node& node = graph.nodes.front();
    std::vector<const void*> pointers;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto& constant = graph.values[node.inputs[i]].constant;
        pointers.push_back(constant ? static_cast<const void*>(constant->bytes().data()) : inputs[i].data());
    }
    std::vector<float> output(batch * graph.output_map().elements());
    void* const result = output.data();
    operators::operator_of(node).compute(
        {.node = {graph, node}, .inputs = pointers, .batch = batch, .outputs = {&result, 1}});
    return output;
}
inline std::vector<float> evaluate(const Op& made, const ir::FeatureMap& shape,
                                   const std::vector<float>& input, std::uint32_t batch) {
    return evaluate(made, std::vector<ir::FeatureMap>{shape}, std::vector<std::vector<float>>{input}, batch);
}

/// The attributes of a node as text: "kernel 3x3, stride 1x1, ...".
inline std::string parameters_of(const ir::NodeView& view) {
    const ir::Node& node = view.node();
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const bool windowed = node.is("convolution") || node.is("depthwise_convolution") || node.is("max_pool") ||
                          node.is("average_pool");
    if (windowed) add(to_text(ir::window_of(node)));
    if (node.is("zero_padding")) {
        std::string sides;
        for (const std::int64_t side : node.integers("padding")) {
            sides += fmt::format("{}{}", sides.empty() ? "" : ",", side);
        }
        add("padding " + sides);
    }
    if (node.is("convolution")) add(fmt::format("filters {}", view.output_map().channels));
    if (node.is("dense")) add(fmt::format("units {}", view.output_map().channels));
    if (node.is("depthwise_convolution")) add(fmt::format("multiplier {}", node.integer("multiplier")));
    if (node.op->has_weights()) {
        add(view.constant(1) == nullptr ? "bias no" : "bias yes");
    }
    for (const ir::AttributeDeclaration& declaration : node.op->attributes()) {
        const bool is_number =
            declaration.name == "alpha" || declaration.name == "maximum" || declaration.name == "epsilon";
        if (is_number && std::isfinite(node.real(declaration.name))) {
            add(fmt::format("{} {}", declaration.name, static_cast<float>(node.real(declaration.name))));
        }
        if (declaration.name == "first" || declaration.name == "count") {
            add(fmt::format("{} {}", declaration.name, node.integer(declaration.name)));
        }
    }
    return text;
}

/// One line for each activation, without constants: `%2 = convolution(%1) -> 14x14x24 "conv2d_1": kernel 6x6,
/// ...`.
inline std::string summary(const ir::Graph& graph) {
    std::string text = fmt::format("graph {}\n", in_quotes(graph.name));
    std::vector<std::size_t> numbers(graph.values.size());
    std::size_t next = 0;
    const auto begin_line = [&](ir::ValueId value, const std::string& expression) {
        numbers[value] = next;
        text += fmt::format("%{} = {} -> {} {}", next++, expression, map_text(graph.values[value].shape),
                            in_quotes(graph.values[value].name));
        if (graph.values[value].stored_as == DataType::Int16) text += " 16-bit";
    };
    for (const ir::ValueId input : graph.inputs) {
        begin_line(input, "input()");
        text += "\n";
    }
    for (const ir::Node& node : graph.nodes) {
        const ir::NodeView view(graph, node);
        std::string inputs;
        for (std::size_t i = 0; i < view.data_inputs(); ++i) {
            inputs += fmt::format("{}%{}", inputs.empty() ? "" : ", ", numbers[node.inputs[i]]);
        }
        begin_line(node.output(), fmt::format("{}({})", node.op->name(), inputs));
        const std::string parameters = parameters_of(view);
        text += parameters.empty() ? "\n" : fmt::format(": {}\n", parameters);
    }
    return text;
}

/// The largest difference, or infinity if the sizes differ.
inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(double{a[i]} - double{b[i]});
        if (!(difference <= largest)) largest = difference;
    }
    return largest;
}

}  // namespace systole::tests

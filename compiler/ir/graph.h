#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/feature_map.h"
#include "compiler/ir/operator.h"
#include "compiler/ir/value.h"

namespace systole::ir {

using NodeId = std::uint32_t;

/// A tensor of more elements is refused (1 GiB in float).
inline constexpr std::uint64_t maximum_elements = std::uint64_t{1} << 28;

/// An operation on values.
struct Node {
    std::string name;  ///< the layer's name in the file; a layer may become several nodes
    const Operator* op = nullptr;
    std::vector<Attribute> attributes;  ///< in the order of the operator's declarations
    std::vector<ValueId> inputs;        ///< constants stand behind the others
    std::vector<ValueId> outputs;

    bool is(std::string_view op_name) const { return op->name() == op_name; }
    ValueId output() const { return outputs.front(); }

    // Each throws std::logic_error where the operator declares no such attribute of this type.
    std::int64_t integer(std::string_view attribute) const;
    double real(std::string_view attribute) const;
    const std::string& text(std::string_view attribute) const;
    const std::vector<std::int64_t>& integers(std::string_view attribute) const;
    void set(std::string_view attribute, Attribute value);

    bool operator==(const Node&) const = default;
};

/// Values and the nodes that make them, nodes in topological order. Each value is an input of the network,
/// constant, or made by exactly one node.
struct Graph {
    std::string name;
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    /// False: the network is known without the values of its weights. It can be compiled to be timed, not
    /// computed.
    bool has_weights = true;

    bool operator==(const Graph&) const = default;

    /// The one input and output of a network that has one of each. Throws std::logic_error for others.
    const Value& input() const;
    const Value& output() const;
    FeatureMap input_map() const { return feature_map(input().shape); }
    FeatureMap output_map() const { return feature_map(output().shape); }

    /// Adds an input of the network. Throws ModelError with the name where the shape is empty or too large.
    ValueId add_input(std::string input_name, const Shape& shape, DataType stored_as = DataType::Uint8);
    ValueId add_constant(std::string constant_name, const Shape& shape, DataType type, Constant constant);
    template <typename Number>
    ValueId add_constant(std::string constant_name, const Shape& shape, DataType type,
                         std::vector<Number> contents) {
        return add_constant(std::move(constant_name), shape, type, Constant::of(std::move(contents)));
    }
    /// Adds a node and infers the shapes of its results, which have the layer's name and the type of the
    /// first input. Attributes that are not given have their defaults. Returns the first result; the others
    /// have the numbers behind it. Throws ModelError, with the layer's name, where the inputs do not fit the
    /// operator or a result is too large; then the graph stays as it was.
    ValueId append(std::string layer, const Operator& op, std::vector<NamedAttribute> attributes,
                   std::vector<ValueId> node_inputs, DataType stored_as = DataType::Uint8);
};

/// A node and the values it works on.
class NodeView {
public:
    NodeView(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

    const Graph& graph() const { return graph_; }
    const Node& node() const { return node_; }
    const Value& input(std::size_t index = 0) const { return graph_.values[node_.inputs[index]]; }
    const Value& output(std::size_t index = 0) const { return graph_.values[node_.outputs[index]]; }
    FeatureMap input_map(std::size_t index = 0) const { return feature_map(input(index).shape); }
    FeatureMap output_map() const { return feature_map(output().shape); }
    /// How many inputs are no constants; these stand first.
    std::size_t data_inputs() const;
    /// Throws ModelError unless there are so many inputs besides constants, and so many constants.
    void require_inputs(std::size_t data, std::size_t constants = 0) const;
    /// The constant behind the data inputs, or null where there are no more.
    const Value* constant(std::size_t index) const;

private:
    const Graph& graph_;
    const Node& node_;
};

/// The attributes of a node of an operator: those given, else their defaults. Throws ModelError for one that
/// is not declared, given twice, missing or against its rule.
std::vector<Attribute> complete_attributes(const Operator& op, std::vector<NamedAttribute> given);

/// The nodes that read each value, in order; twice where a node reads a value twice.
std::vector<std::vector<NodeId>> readers(const Graph& graph);
/// The node that makes each value; nothing for inputs of the network and constants.
std::vector<std::optional<NodeId>> producers(const Graph& graph);
bool is_input(const Graph& graph, ValueId value);
bool is_output(const Graph& graph, ValueId value);

/// What read a value, the network's outputs too, reads another instead.
void replace_value(Graph& graph, ValueId value, ValueId by);
/// Takes the marked nodes out, each of one data input and one result; what read the result reads the input
/// instead, which is stored as the result was if nothing else read it.
void remove_nodes(Graph& graph, const std::vector<bool>& removed);
/// Takes out nodes and values that lead to no output of the network. Its inputs stay.
void remove_unread(Graph& graph);
/// Infers the shapes of all results again, after inputs have been given other shapes. Throws ModelError.
void infer_shapes(Graph& graph);

/// What is wrong with a graph, in one line that names the node or value; nothing where it is whole: ids,
/// topological order, one definition of each value, attributes, shapes and types by the rules of the
/// operators, sizes of constants and of quantizations.
std::optional<std::string> find_fault(const Graph& graph);

/// Throws std::logic_error, naming the pass that has broken the graph and the node.
void verify(const Graph& graph, std::string_view pass);

}  // namespace systole::ir

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

/// Largest number of elements of a tensor (1 GiB in float).
inline constexpr std::uint64_t maximum_elements = std::uint64_t{1} << 28;

/// An operation on values.
struct Node {
    std::string name;  ///< the layer's name in the file; a layer may become several nodes
    const Operator* op = nullptr;
    std::vector<Attribute> attributes;  ///< in the order of the operator's declarations
    std::vector<ValueId> inputs;        ///< data inputs first, then parameters
    std::vector<ValueId> outputs;
    /// How many of the inputs are data. Absent: as many as are not constants. Stated where a parameter, such
    /// as the weights, is the result of another node, or data is a constant.
    std::optional<std::uint32_t> stated_data = {};

    bool is(std::string_view op_name) const { return op->name() == op_name; }
    ValueId output() const { return outputs.front(); }

    // Attributes by name. Each throws std::logic_error if the operator declares no such attribute of this
    // type.
    std::int64_t integer(std::string_view attribute) const;
    double real(std::string_view attribute) const;
    const std::string& text(std::string_view attribute) const;
    const std::vector<std::int64_t>& integers(std::string_view attribute) const;
    void set(std::string_view attribute, Attribute value);

    bool operator==(const Node&) const = default;
};

/// What a file asks for that machines without branches and without addresses from data do the long way. Notes
/// for people: no result and no cycle depends on them, and the text of a graph does not have them.
struct Detours {
    /// Work of an inference: of products, and the results of all other nodes.
    struct Work {
        std::uint64_t macs = 0;
        std::uint64_t elements = 0;
    };
    Work all = {};  ///< of the file, where it asks for any of this
    /// Choices among branches that follow data. All branches of each are computed, and one is kept.
    std::uint64_t choices = 0;
    Work discarded = {};         ///< what is not kept, if each choice takes the branch with most work
    std::uint64_t found = 0;     ///< elements that are read, or written, at places that data name
    std::uint64_t compared = 0;  ///< elements that are compared with these places

    bool operator==(const Detours& /*other*/) const { return true; }
};

/// A network: values, and nodes that compute them, in topological order. Each value is an input of the
/// network, a constant, or the result of exactly one node.
struct Graph {
    std::string name;
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    /// An input and the output that replaces it in the next run, by their positions in `inputs` and
    /// `outputs`.
    struct State {
        std::uint32_t input = 0;
        std::uint32_t output = 0;
        bool operator==(const State&) const = default;
    };
    std::vector<State> state;
    /// A cache: an input that each run gets longer along one axis, and the output that is the next run's
    /// input. Other than with state, the next run is one of another graph. Passes leave the order of axes of
    /// both as it is in the file.
    struct Cache {
        std::optional<std::uint32_t> input;  ///< absent where there is nothing yet
        std::uint32_t output = 0;
        bool operator==(const Cache&) const = default;
    };
    std::vector<Cache> caches;
    /// Inputs of the file that have no elements, such as caches before the first step. No node reads them. A
    /// note, which the text of a graph does not have.
    struct EmptyInputs {
        std::vector<std::string> names = {};
        bool operator==(const EmptyInputs& /*other*/) const { return true; }
    };
    EmptyInputs empty_inputs;
    /// Outputs of the file that are constants, each with its place among all outputs of the file. They are
    /// known before the network runs; nothing computes them.
    struct ConstantOutput {
        std::size_t place = 0;
        Value value;
        bool operator==(const ConstantOutput&) const = default;
    };
    std::vector<ConstantOutput> constant_outputs;
    /// False: the values of the weights are unknown. Such a network can be timed but not computed.
    bool has_weights = true;
    /// Names of the parts of layers that are written out many times, as the steps of a recurrent layer are,
    /// each name once. Nodes of one such name do the same work, with the same weights, on other data: their
    /// results get one range, their biases one correction, and reports show them together.
    std::vector<std::string> repeated;
    /// Above 1: the graph is what each of so many replicas of one program does. They are the inferences of a
    /// batch, each on a core of its own.
    std::uint32_t replicas = 1;
    /// The first extent of images. Above 1 only while a file with a fixed batch is read (split_batch).
    std::uint32_t batch = 1;
    Detours detours;

    bool operator==(const Graph&) const = default;

    /// The one input and output of a network that has one of each. Throws std::logic_error for others.
    const Value& input() const;
    const Value& output() const;
    FeatureMap input_map() const { return feature_map(input().shape); }
    FeatureMap output_map() const { return feature_map(output().shape); }

    /// Adds an input of the network. Throws ModelError with the name if the shape is empty or too large.
    ValueId add_input(std::string input_name, const Shape& shape, DataType stored_as = DataType::Uint8);
    ValueId add_constant(std::string constant_name, const Shape& shape, DataType type, Constant constant);
    template <typename Number>
    ValueId add_constant(std::string constant_name, const Shape& shape, DataType type,
                         std::vector<Number> contents) {
        return add_constant(std::move(constant_name), shape, type, Constant::of(std::move(contents)));
    }
    /// Adds a node and infers the shapes of its results, which get the layer's name and the given types, or
    /// the type by the operator's rule. Attributes that are not given have their defaults. Returns the id of
    /// the first result; further results have the following ids. Throws ModelError with the layer's name if
    /// the inputs do not fit the operator or a result is too large; the graph is then unchanged.
    /// `stated_data` is Node::stated_data.
    ValueId append(std::string layer, const Operator& op, std::vector<NamedAttribute> attributes,
                   std::vector<ValueId> node_inputs, DataType stored_as = DataType::Uint8,
                   std::vector<ResultType> types = {}, std::optional<std::uint32_t> stated_data = {});
    /// Replaces the last node by constants with its results if all its inputs are known constants.
    void fold_last_node();
};

/// A node together with its graph, for access to its inputs and outputs.
class NodeView {
public:
    NodeView(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

    const Graph& graph() const { return graph_; }
    const Node& node() const { return node_; }
    const Value& input(std::size_t index = 0) const { return graph_.values[node_.inputs[index]]; }
    const Value& output(std::size_t index = 0) const { return graph_.values[node_.outputs[index]]; }
    FeatureMap input_map(std::size_t index = 0) const {
        return feature_map(input(index).shape, input(index).constant ? 1 : graph_.batch);
    }
    FeatureMap output_map() const { return feature_map(output().shape, batch()); }
    /// The first extent of the node's images.
    std::uint32_t batch() const { return data_inputs() == 0 ? 1 : graph_.batch; }
    /// The number of data inputs (Node::stated_data); they come first. The others are parameters.
    std::size_t data_inputs() const;
    /// Throws ModelError unless the node has `data` data inputs and `constants` constants.
    void require_inputs(std::size_t data, std::size_t constants = 0) const;
    /// Parameter number `index`, or null if there is none. It may be the result of another node.
    const Value* parameter(std::size_t index) const;
    /// The same for code that needs its elements before the network runs. Throws ModelError if another node
    /// computes it.
    const Value* constant(std::size_t index) const;
    /// The role of the first parameter that is not a constant, such as "weights"; nullopt if there is none.
    std::optional<std::string> computed_parameter() const;

private:
    const Graph& graph_;
    const Node& node_;
};

/// The attributes of a node of an operator: the given ones, and defaults for the others. Throws ModelError if
/// an attribute is not declared, given twice, missing or breaks its rule.
std::vector<Attribute> complete_attributes(const Operator& op, std::vector<NamedAttribute> given);

/// The nodes of each repeated part that has any, in the order of Graph::repeated.
std::vector<std::vector<NodeId>> repeated_nodes(const Graph& graph);

/// The nodes that read each value, in order; a node that reads a value twice is listed twice.
std::vector<std::vector<NodeId>> readers(const Graph& graph);
/// The node that computes each value; nullopt for inputs of the network and constants.
std::vector<std::optional<NodeId>> producers(const Graph& graph);
bool is_input(const Graph& graph, ValueId value);
bool is_output(const Graph& graph, ValueId value);
/// Whether the value is an input that an output replaces in the next run, with state or as a cache.
bool is_replaced(const Graph& graph, ValueId value);
/// Whether the graph has activations of integers; those of float32 are then the host's.
bool is_quantized(const Graph& graph);
/// Multiply-accumulates of one inference.
std::uint64_t macs(const Graph& graph);
/// The number of weights of a node, known or not; 0 for operators without weights.
std::uint64_t weight_count(const NodeView& node);

/// Replaces a value by another one in all inputs of nodes and in the network's outputs.
void replace_value(Graph& graph, ValueId value, ValueId by);
/// Removes the marked nodes, each with one data input and one result. Readers of the result then read the
/// input. If nothing else read the input, it takes the result's `stored_as`; if the result is an output of
/// the network, its `file_axes`. A node stays if its input has another order of the file's axes already.
void remove_nodes(Graph& graph, const std::vector<bool>& marked);
/// Removes nodes and values that no output of the network depends on. The network's inputs stay.
void remove_unread(Graph& graph);
/// Whether all inferences share the results of a node: it combines a batch into them, or reads nothing but
/// what all share. Constants alone do not make it so.
bool makes_shared(const NodeView& node);
/// Whether the result for an image depends on other images of its batch, by any node.
bool mixes_images(const Graph& graph);
/// Infers the shapes of all results again after the shapes of inputs were changed. Throws ModelError.
void infer_shapes(Graph& graph);
/// The same for the results of one node.
void infer_shapes_of(Graph& graph, NodeId id);

/// The first fault of a graph, in one line with the node or value; nullopt if the graph is valid. Checks ids,
/// topological order, one definition of each value, attributes, shapes and types by the rules of the
/// operators, state, which values are shared, and sizes of constants and of quantizations.
std::optional<std::string> find_fault(const Graph& graph);

/// Throws std::logic_error, with the pass and the fault, if the graph that a pass has returned is not valid.
void verify(const Graph& graph, std::string_view pass);

}  // namespace systole::ir

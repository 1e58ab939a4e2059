#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/tensor_shape.h"

/// The network as its file describes it, in float: what the front ends make and the passes rewrite.
namespace systole::graph {

/// One kind of layer. Each kind is a class of its own, in compiler/graph/operators/; passes ask for
/// the kinds they know with dynamic_cast.
class Operator {
public:
    virtual ~Operator() = default;

    /// "convolution", "dense", ...: the name in reports and messages.
    virtual std::string_view kind() const = 0;
    virtual std::unique_ptr<Operator> clone() const = 0;
    /// What distinguishes this operator from others of its kind: "kernel 3x3, stride 1x1, ...".
    virtual std::string parameters() const { return {}; }
    /// The shape of the result. Throws ModelError where the inputs do not fit the operator.
    virtual Shape output_shape(std::span<const Shape> inputs) const = 0;
    /// Computes `batch` results in float: inputs[i] holds batch * shapes[i].elements() values, packed.
    virtual void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                          std::uint32_t batch, float* output) const = 0;
    /// Multiply-accumulates of one inference.
    virtual std::uint64_t macs(std::span<const Shape> inputs) const;

protected:
    Operator() = default;
    Operator(const Operator&) = default;
    Operator& operator=(const Operator&) = default;
};

using NodeId = std::uint32_t;

/// A tensor of more elements is refused (1 GiB in float).
inline constexpr std::uint64_t maximum_elements = std::uint64_t{1} << 28;

struct Node {
    std::string name;  ///< the layer's name in the file; a layer may become several nodes
    std::unique_ptr<Operator> op;
    std::vector<NodeId> inputs;  ///< each before this node
    Shape shape;                 ///< of the result
    /// Bits of an element of the result where it is stored on the chip: 8, or 16.
    std::uint8_t activation_bits = 8;
};

/// Nodes in topological order; node 0 is the input, the last node the output, and every node leads to
/// the output.
struct Graph {
    std::string name;
    std::vector<Node> nodes;
    /// False: the network is known without the values of its weights, which operators leave empty. It can
    /// be compiled to be timed, not computed.
    bool has_weights = true;

    const Shape& input_shape() const { return nodes.front().shape; }
    const Shape& output_shape() const { return nodes.back().shape; }

    /// Adds a node and infers its shape. Throws ModelError, with the layer's name, where the inputs do
    /// not fit the operator or the result is too large.
    NodeId append(std::string layer, std::unique_ptr<Operator> op, std::vector<NodeId> inputs,
                  std::uint8_t activation_bits = 8);
};

Graph clone(const Graph& graph);

/// The shapes of a node's inputs.
std::vector<Shape> input_shapes(const Graph& graph, const Node& node);

/// The nodes that read each node, in order; twice where a node reads another twice.
std::vector<std::vector<NodeId>> consumers(const Graph& graph);

/// Takes the marked nodes out; what read one of them reads that node's input instead, which is stored as
/// that node was if nothing else read it. Each must have exactly one input, or no reader that stays.
void remove_nodes(Graph& graph, const std::vector<bool>& removed);

/// Multiply-accumulates of one inference.
std::uint64_t macs(const Graph& graph);

/// One line a node: `%2 = convolution(%1) -> 14x14x24 "conv2d_1": kernel 6x6, ...`.
std::string to_text(const Graph& graph);

}  // namespace systole::graph

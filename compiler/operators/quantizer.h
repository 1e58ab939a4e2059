#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/operators/encoding.h"
#include "compiler/operators/operator.h"

namespace systole::operators {

/// The quantized graph as it grows: each node of the float graph adds by its operator's rule
/// (Operator::quantize) the nodes on integers that compute it.
class Quantizer {
public:
    explicit Quantizer(const ir::Graph& graph);

    const ir::Graph& graph() const { return graph_; }
    ir::NodeView view(const ir::Node& node) const { return {graph_, node}; }

    // Of the float graph.

    /// The type in which a value is to be stored. Throws ModelError unless activations may have it.
    DataType type(ir::ValueId id) const;
    /// How numbers of a value's range are stored in a type; in its own, where none is given.
    Encoding encoding(ir::ValueId id, DataType type) const;
    Encoding encoding(ir::ValueId id) const { return encoding(id, type(id)); }
    /// The node of an activation function that alone reads a value, or null.
    const ir::Node* function_after(ir::ValueId id) const;
    [[noreturn]] void fail(ir::ValueId id, const std::string& rule) const;
    /// Fails unless the inputs are as wide as the result: the chip converts nothing in between.
    void require_one_width(const ir::Node& node) const;

    // Of the quantized graph.

    /// The value that stores one of the float graph. Throws ModelError where that is a constant.
    ir::ValueId stored(ir::ValueId id) const;
    Encoding stored_encoding(ir::ValueId id) const { return encoding_of(result_.values[stored(id)]); }
    bool is_stored(ir::ValueId id) const { return stored_[id].has_value(); }
    /// A value is stored by one that is there already.
    void store(ir::ValueId id, ir::ValueId by) { stored_[id] = by; }
    /// The network's input.
    void add_input(ir::ValueId id, const Encoding& encoding);
    /// A value of the shape and name of one of the float graph, which does not store it yet.
    ir::ValueId add_value(ir::ValueId id, const Encoding& encoding);
    ir::ValueId add_constant(std::string name, const ir::Shape& shape, DataType type, ir::Constant contents,
                             std::optional<ir::Quantization> quantization = {});
    /// Adds a node whose inputs and results are values of the quantized graph.
    void add_node(ir::Node node) { result_.nodes.push_back(std::move(node)); }
    /// Adds a node like one of the float graph, on its inputs as they are stored; it makes the value that
    /// stores its result.
    void add_like(const ir::Node& node, const Encoding& result);
    /// The same for a node whose result stays float32, as the host computes it.
    void add_real(const ir::Node& node);
    /// Adds a node that looks numbers of `from` up in a table and makes `to`.
    void add_lookup(const ir::Node& node, ir::ValueId from, ir::ValueId to, const ElementFunction& function);

    ir::Graph finish() &&;

private:
    void add_copy(const ir::Node& node, ir::ValueId result);

    const ir::Graph& graph_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<ir::ValueId>> stored_;  ///< by value of the float graph
    ir::Graph result_;
};

}  // namespace systole::operators

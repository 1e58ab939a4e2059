#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/mapping/network.h"

namespace systole::operators {

/// The chip's work as it grows: each node of a quantized graph adds by its operator's rule (Operator::lower)
/// the layers that compute it.
class Lowering {
public:
    explicit Lowering(const ir::Graph& graph);

    const ir::Graph& graph() const { return graph_; }
    /// The lookup that alone reads a value, or null.
    const ir::Node* lookup_after(ir::ValueId id) const;
    [[noreturn]] void fail(const ir::Node& node, const std::string& rule) const;

    /// The tensor that holds a value. Throws ModelError where the value is constant.
    mapping::TensorId tensor_of(ir::ValueId id) const;
    /// Throws ModelError where an input of the node is constant.
    void require_tensors(const ir::Node& node) const;
    bool has_tensor(ir::ValueId id) const { return tensors_[id].has_value(); }
    /// A tensor for a value.
    mapping::TensorId add_tensor(ir::ValueId id);
    /// A value is held by a tensor that is there already.
    void share_tensor(ir::ValueId id, mapping::TensorId tensor) { tensors_[id] = tensor; }
    /// Adds the work of a node on its data inputs; `result` is the value that it makes: the node's own, or
    /// that of what is done together with it.
    void add_layer(const ir::Node& node, ir::ValueId result, mapping::Work work);
    /// Work on the network's output for the host.
    void add_host_operation(const ir::Node& node);

    mapping::Network finish() &&;

private:
    const ir::Graph& graph_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<mapping::TensorId>> tensors_;  ///< by value
    mapping::Network network_;
};

/// The work of the chip, and of the host behind it, for a quantized graph. Throws ModelError where the chip
/// cannot compute a node.
mapping::Network lower(const ir::Graph& graph);

/// The table of a lookup.
mapping::Table table_of(const ir::NodeView& lookup);

/// Whether the graph is one on integers.
bool is_quantized(const ir::Graph& graph);

/// The last value that the chip computes: the network's output, or what the host's work on it begins with.
ir::ValueId chip_output(const ir::Graph& graph);

}  // namespace systole::operators

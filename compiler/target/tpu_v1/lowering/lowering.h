#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/host_segments.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// What of the machine decides which nodes the chip computes.
struct ChipAbilities {
    bool writes_weights = false;  ///< programs may write weight memory
    bool row_sums = true;         ///< the array subtracts a zero point from its weights
};

/// Builds the chip's work: each node of a quantized graph adds the layers that compute it, by the rule of its
/// operator (lowerings.h).
class Lowering {
public:
    explicit Lowering(const ir::Graph& graph, const ChipAbilities& chip = {});

    const ir::Graph& graph() const { return graph_; }
    /// The lookup that is the only reader of a value, or null.
    const ir::Node* lookup_after(ir::ValueId id) const;
    [[noreturn]] void fail(const ir::Node& node, const std::string& rule) const;

    /// The tensor that holds a value. Throws ModelError if the value is constant.
    TensorId tensor_of(ir::ValueId id) const;
    /// Throws ModelError if an input of the node is constant.
    void require_tensors(const ir::Node& node) const;
    bool has_tensor(ir::ValueId id) const { return tensors_[id].has_value(); }
    /// Whether a node reads a value, or only the network's outputs do.
    bool is_read(ir::ValueId id) const { return !readers_[id].empty(); }
    /// The values that got a tensor since the last call, each perhaps several times.
    std::vector<ir::ValueId> take_placed() { return std::exchange(placed_, {}); }
    /// Adds a tensor for a value.
    TensorId add_tensor(ir::ValueId id);
    /// Lets an existing tensor hold a value.
    void share_tensor(ir::ValueId id, TensorId tensor) {
        tensors_[id] = tensor;
        placed_.push_back(id);
    }
    /// Adds the work of a node on its data inputs. `result` is the value that it computes: the node's own
    /// result, or that of a later node whose work is included.
    void add_layer(const ir::Node& node, ir::ValueId result, Work work);
    /// Adds a concatenation of positions, [1][1][channels] each. Each becomes a line of one pixel.
    void add_positions(const ir::Node& node);
    /// Adds a node that the host computes on the network's output, after the program.
    void add_host_operation(const ir::Node& node);
    /// Adds nodes that the host computes between the chip's work.
    void add_segment(const operators::HostNodes& nodes, const operators::SegmentGraph& segment);
    /// Adds a tensor for a value in host memory, and in the chip's if a node of the chip reads it.
    TensorId add_host_tensor(ir::ValueId id);
    /// The division of the graph between chip and host.
    const operators::HostPlan& host_plan() const { return plan_; }

    Network finish() &&;

private:
    const ir::Graph& graph_;
    const operators::HostPlan plan_;
    const ir::BorderValues border_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<TensorId>> tensors_;  ///< by value
    std::vector<ir::ValueId> placed_;               ///< see take_placed
    Network network_;
};

/// The work of the chip for a quantized graph, and that of the host between it and after it. Throws
/// ModelError if neither can compute a node.
Network lower(const ir::Graph& graph, const ChipAbilities& chip = {});

/// Whether the chip computes a node with these abilities that it does not compute without.
bool writes_weights(const ir::Graph& graph, const ChipAbilities& chip);

}  // namespace systole::tpu_v1

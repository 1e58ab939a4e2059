#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// Nodes that the host computes together, in the graph's order.
using HostNodes = std::vector<ir::NodeId>;

/// The division of a graph's nodes between chip and host.
struct HostPlan {
    std::vector<HostNodes> segments;  ///< between the chip's work
    std::vector<ir::NodeId> at_end;  ///< on the only output, after the program (isa::HostOperation), in order
    std::vector<bool> on_chip;       ///< by node
};

/// Divides the nodes of a graph, of which a target says, by node, whether its chip computes them. A segment
/// is a largest connected set of the other nodes with no node of the chip on a path between two of them.
HostPlan find_host_segments(const ir::Graph& graph, std::vector<bool> on_chip);

/// The last value that the program computes: the network's output, or what the host's work behind it reads.
ir::ValueId program_output(const ir::Graph& graph);

/// A segment as a graph of its own. Inputs are the values that its nodes read and others compute; outputs are
/// the values that others, or the network's outputs, read.
struct SegmentGraph {
    std::string name;  ///< of its layer in reports
    ir::Graph graph;
    std::vector<ir::ValueId> inputs;   ///< values of the whole graph, in the order of graph.inputs
    std::vector<ir::ValueId> outputs;  ///< in the order of graph.outputs
};
/// Of each of these segments. A segment has the name of its first node or, of a network with paths of modules
/// as names ("/encoder/layer.0/attention/self/Softmax", "encoder.layer.0.output"), the path that its nodes
/// with such names have in common, if no other segment has the same and no node outside of it that name.
std::vector<SegmentGraph> segment_graphs(const ir::Graph& graph, const std::vector<HostNodes>& segments);

/// The work of a segment for one inference; for its time.
struct SegmentCost {
    std::uint64_t operations = 0;      ///< of the nodes, and of conversions to and from stored integers
    std::uint64_t bytes = 0;           ///< of inputs, outputs and elements of constants found by index
    std::uint64_t constant_bytes = 0;  ///< of other constants: once, for any number of inferences
};
SegmentCost segment_cost(const ir::Graph& segment);

}  // namespace systole::operators

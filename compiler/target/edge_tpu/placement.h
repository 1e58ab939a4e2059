#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// Whether a constant has one number, or one for each channel of an image.
bool has_one_number_by_channel(const ir::Value& constant, const ir::FeatureMap& image);

/// Where a node runs.
struct Placement {
    bool on_chip = false;
    std::string reason = {};  ///< why not on the chip; empty for nodes that are
};

/// Why nodes that tiles could compute are not on the chip, such as those whose tensors are too large.
using Refusals = std::map<ir::NodeId, std::string>;

/// What computes nodes of an operator, by the table of rules: "chip", "chip, some nodes" or "host".
std::string_view place_of(const ir::Operator& op);

/// By node of a graph on integers. All nodes from the first one on that the chip does not compute run on the
/// host, as the Edge TPU's own compiler places them: a compiled network has one part for the chip.
std::vector<Placement> place(const ir::Graph& graph, const machine::MachineConfig& machine,
                             const Refusals& refused);

}  // namespace systole::edge_tpu

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::judge {

/// How far the sums of a layer are from those computed in float64.
struct LayerBound {
    std::string layer = {};
    std::string op = {};
    std::uint64_t addends = 0;  ///< of each sum, at most
    double worst = 0;           ///< the largest |sum - exact sum| / sum of |addends|
};

/// Computes each sum of a graph in words again, in float64, from the numbers that its node gets: products of
/// operands rounded to bfloat16 where the node's precision is `default`, as they are where it is not, and
/// sums over axes and windows, of the first inference. Nothing here is shared with the operators or with
/// hw/math.
class ProductBounds {
public:
    /// `graph` must outlive this.
    explicit ProductBounds(const ir::Graph& graph);

    /// The bytes of a value, of one inference or of several, in the order in which nodes compute them
    /// (reference::TensorObserver).
    void observe(ir::ValueId value, std::span<const std::uint8_t> bytes);

    /// In the order of the graph.
    const std::vector<LayerBound>& layers() const { return layers_; }

private:
    void check(const ir::Node& node, std::span<const float> results);
    /// The numbers of a constant, or of a value that was observed.
    std::vector<float> numbers_of(ir::ValueId id) const;

    const ir::Graph& graph_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<const ir::Node*> producers_;          ///< by value; null: none
    std::map<ir::ValueId, std::vector<float>> kept_;  ///< values that later nodes read
    std::vector<LayerBound> layers_;
};

}  // namespace systole::judge

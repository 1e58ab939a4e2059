#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// The values of a float graph whose elements several nodes read: from the value itself, or from another one
/// that has its elements, moved but not scaled. Depends on the graph's structure only, not on what is known
/// of its numbers.
class SharedValues {
public:
    explicit SharedValues(const ir::Graph& graph);

    /// Whether others than a concatenation, or a dense layer, read the elements of one of its inputs too:
    /// nodes that scale them, other concatenations, or the network's outputs. All these get one encoding from
    /// the value, which therefore must not depend on that node. Never for values of 16 bits: they have steps
    /// enough for any common range.
    bool is_shared(ir::ValueId input, const ir::Node& reader) const;

private:
    struct Readers {
        bool is_output = false;
        std::optional<ir::ValueId> first;  ///< the result of the first node that reads the elements
        bool has_several = false;
    };

    const ir::Graph& graph_;
    std::vector<ir::ValueId> sources_;  ///< moved, or itself
    std::vector<Readers> readers_;      ///< by source
};

}  // namespace systole::operators

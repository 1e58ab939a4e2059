#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Told the graph that a pass has left.
using PassObserver = std::function<void(std::string_view pass, const ir::Graph& graph)>;

/// Named passes over the graph, in order.
class PassManager {
public:
    using Transformation = std::function<ir::Graph(ir::Graph graph)>;

    /// Throws std::logic_error where the name is taken.
    void add(std::string name, Transformation pass);
    std::vector<std::string> names() const;

    /// Runs all passes. The graph is verified before the first and after each: std::logic_error names the
    /// pass that has broken it, and the node. Throws what the passes throw.
    ir::Graph run(ir::Graph graph, const PassObserver& observer = {}) const;

private:
    struct Pass {
        std::string name;
        Transformation transform;
    };
    std::vector<Pass> passes_;
};

}  // namespace systole::passes

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Called with the graph after each pass.
using PassObserver = std::function<void(std::string_view pass, const ir::Graph& graph)>;

/// A sequence of named passes over the graph.
class PassManager {
public:
    using Transformation = std::function<ir::Graph(ir::Graph graph)>;

    /// Appends a pass. Throws std::logic_error if the name is taken.
    void add(std::string name, Transformation pass);
    /// Appends a pass that makes the network one for images `factor` times as wide and as high: it changes
    /// shapes on purpose, also those of inputs and outputs. Inputs must then have factor * factor times as
    /// many elements, and values that live on, and outputs, as many axes as before.
    void add_enlarging(std::string name, std::uint32_t factor, Transformation pass);
    std::vector<std::string> names() const;

    /// Runs all passes. Verifies the graph before the first pass and after each one; throws std::logic_error
    /// with the pass and the fault if it is not valid. Exceptions of passes are passed on.
    ///
    /// Unless it enlarges, also throws std::logic_error if a pass changes the shape of an output, the number
    /// of elements of an input, or the shape of a value that lives on: one that still has ir::Value::before.
    /// A pass that changes a shape takes this mark away, and so says that it has looked at all who read the
    /// value. Shapes are compared in the order of the file's axes (ir::Value::file_axes).
    ir::Graph run(ir::Graph graph, const PassObserver& observer = {}) const;

private:
    struct Pass {
        std::string name;
        Transformation transform;
        std::uint32_t factor = 1;  ///< by which it enlarges images
    };
    void add(Pass pass);

    std::vector<Pass> passes_;
};

}  // namespace systole::passes

#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace systole::ir {

/// Which values are a graph's inputs and outputs, for passes that ask of many: is_input and is_output look
/// through all of them each time.
class BorderValues {
public:
    explicit BorderValues(const Graph& graph)
        : is_input_(graph.values.size(), false), is_output_(graph.values.size(), false) {
        for (const ValueId input : graph.inputs) is_input_[input] = true;
        for (const ValueId output : graph.outputs) is_output_[output] = true;
    }

    /// Values that were added since are neither.
    bool is_input(ValueId value) const { return value < is_input_.size() && is_input_[value]; }
    bool is_output(ValueId value) const { return value < is_output_.size() && is_output_[value]; }

private:
    std::vector<bool> is_input_;
    std::vector<bool> is_output_;
};

}  // namespace systole::ir

#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>

#include "compiler/graph/tensor_shape.h"
#include "compiler/model_error.h"

namespace systole::graph {

/// The one input of an operator that takes one.
inline const Shape& only_input(std::span<const Shape> inputs) {
    if (inputs.size() != 1) {
        throw ModelError(fmt::format("it has {} inputs; it must have exactly 1", inputs.size()));
    }
    return inputs[0];
}

/// Weights that do not fit the operator: the reader of the file checks them, so that this is our bug.
inline void require_values(std::size_t count, std::optional<std::uint64_t> expected, const char* what) {
    if (count != expected)
        throw std::logic_error(fmt::format("an operator has {} values of {}", count, what));
}

/// The same for weights, which may have no values at all (see Graph::has_weights).
inline void require_weights(std::size_t count, std::optional<std::uint64_t> expected) {
    if (count != 0 || !expected) require_values(count, expected, "weights");
}

/// Before weights are computed with.
inline void require_weight_values(std::size_t count) {
    if (count == 0) throw std::logic_error("weights without values cannot be computed with");
}

}  // namespace systole::graph

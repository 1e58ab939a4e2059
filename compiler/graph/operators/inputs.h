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

}  // namespace systole::graph

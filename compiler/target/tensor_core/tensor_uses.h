#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "compiler/target/tensor_core/network.h"

namespace systole::tensor_core {

/// The steps that read and write each tensor.
struct TensorUses {
    using Steps = std::set<std::size_t, std::greater<>>;

    explicit TensorUses(const Network& network);

    /// The steps that read or write some of the tensors, the last step first.
    Steps steps_with(const std::vector<TensorId>& tensors) const;

    std::vector<std::vector<std::size_t>> readers;  ///< by tensor
    std::vector<std::vector<std::size_t>> writers;  ///< by tensor
};

}  // namespace systole::tensor_core

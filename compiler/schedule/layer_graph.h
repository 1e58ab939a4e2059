#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/mapping/tensor_use.h"

namespace systole::schedule {

/// Which layers of a slice come before which, at least.
struct LayerGraph {
    std::vector<std::uint32_t> step;                 ///< by layer: its step (mapping::last_reading_steps)
    std::vector<std::vector<std::uint32_t>> before;  ///< by layer: layers that it waits for
    std::vector<std::vector<std::uint32_t>> after;   ///< by layer: layers that wait for it
};

/// The rows of all images of a tensor. Tensors that lie in another have its rows and its number.
struct TensorRows {
    mapping::TensorId whole = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    bool conflicts(const TensorRows& other) const {
        return whole != other.whole && begin < other.end && other.begin < end;
    }
};

/// A layer waits for those whose results it reads, and for those that use rows which it overwrites: of two
/// layers that use the same rows for different tensors, one of which writes them, the first in the network
/// comes first. Layers that are computed with another (`computed_with`, by layer) wait for what that layer
/// waits for, and it for theirs. `rows`: by tensor.
LayerGraph layer_graph(std::span<const mapping::LayerTensors> layers,
                       std::span<const std::uint32_t> computed_with, std::span<const TensorRows> rows);

}  // namespace systole::schedule

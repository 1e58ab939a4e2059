#pragma once

#include <cstdint>
#include <vector>

#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {

/// Which layers of a slice come before which, at least.
struct LayerGraph {
    std::vector<std::uint32_t> step;                 ///< by layer: its step (memory_plan.h)
    std::vector<std::vector<std::uint32_t>> before;  ///< by layer: layers that it waits for
    std::vector<std::vector<std::uint32_t>> after;   ///< by layer: layers that wait for it
};

/// A layer waits for those whose results it reads, and for those that use rows which it overwrites: of two
/// layers that use the same rows for different tensors, one of which writes them, the first in the network
/// comes first. Joined layers wait for what the layer waits for that computes them, and it for theirs.
LayerGraph layer_graph(const AnalysedNetwork& analysed, const Schedule& schedule);

}  // namespace systole::tpu_v1

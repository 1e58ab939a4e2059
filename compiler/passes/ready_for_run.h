#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// What a run needs of its network.
struct RunNeeds {
    bool timing_only = false;        ///< no values of weights
    std::uint32_t image_factor = 1;  ///< images so many times as wide and as high; in timing-only runs
};

/// The network of a file as a run takes it: with the order of axes inside that its inputs and outputs keep
/// from now on (move_transposes), without the values of its weights (drop_weights) and for larger images
/// (scale_images) if the run needs that. Throws ModelError.
ir::Graph ready_for_run(ir::Graph graph, const RunNeeds& needs = {});

}  // namespace systole::passes

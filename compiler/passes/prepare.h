#pragma once

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/pass_manager.h"

namespace systole::passes {

/// The passes that take out what the chip need not know of: identities, batch normalizations, foldable
/// borders, concatenations for dense layers. What they leave computes the same, up to the rounding of float.
PassManager simplification();

/// These, then from float to integers: calibrate, unite_ranges, quantize, which a graph on integers passes as
/// it is.
PassManager preparation(Calibration calibration);

/// Runs the former, or all. Throws ModelError.
ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer = {});
ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const PassObserver& observer = {});

}  // namespace systole::passes

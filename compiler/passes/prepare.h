#pragma once

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/pass_manager.h"

namespace systole::passes {

/// The passes that remove nodes the chip does not need: identities, batch normalizations, borders that become
/// padding, and concatenations for dense layers. The results stay the same, except for float rounding.
PassManager simplification();

/// These passes, followed by those from float to integers: calibrate, unite_ranges, quantize. The latter do
/// not change a graph on integers.
PassManager preparation(Calibration calibration);

/// Runs the passes of simplification() or of preparation(). Throws ModelError.
ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer = {});
ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const PassObserver& observer = {});

}  // namespace systole::passes

#pragma once

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/pass_manager.h"

namespace systole::passes {

/// The passes that remove nodes the chip does not need: identities, batch normalizations, borders that become
/// padding, and concatenations for dense layers. The results stay the same, except for float rounding.
PassManager simplification();

/// These passes, followed by those from float to integers: calibrate, unite_ranges, quantize (with
/// correct_biases). The latter do not change a graph on integers.
PassManager preparation(Calibration calibration);

/// The network with the order of axes inside that its inputs and outputs keep from now on: the first pass
/// alone.
ir::Graph with_inner_axes(const ir::Graph& graph);

/// Throws std::logic_error unless inputs and outputs have the same order of the file's axes in both graphs,
/// as whoever gives the inputs and reads the outputs of the prepared network expects.
void check_borders(const ir::Graph& graph, const ir::Graph& prepared);

/// Runs the passes of simplification() or of preparation(). Throws ModelError.
ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer = {});
ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const PassObserver& observer = {});

}  // namespace systole::passes

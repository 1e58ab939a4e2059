#pragma once

#include <optional>
#include <vector>

#include "base/rounding.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/words_options.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/pass_manager.h"

namespace systole::passes {

/// The passes that remove nodes the chip does not need: identities, groups of nodes that are one operator,
/// batch normalizations, borders that become padding, and concatenations for dense layers. The results stay
/// the same, except for float rounding.
PassManager simplification();

/// These passes, followed by those from float to integers: calibrate, unite_ranges, quantize (with
/// correct_biases). The latter do not change a graph on integers. Given a machine's rounding, set_rounding
/// comes last.
PassManager preparation(Calibration calibration, std::optional<Rounding> rounding = {});

/// The passes of simplification(), unless the graph is a program, and compute_in_words: for machines
/// that compute in floats.
PassManager preparation_in_words(ir::WordsOptions options, bool is_program = false);

/// A network on integers beside the one in float from which it was quantized.
struct QuantizedNetwork {
    ir::Graph real;    ///< simplified, with ranges
    ir::Graph stored;  ///< as prepare() returns it
    /// By value of `stored`: the value of `real` whose numbers it has, as near as it can. Several may have
    /// those of one. Absent for constants, and for what only quantization makes. Names do not tell: several
    /// values of a layer may have the layer's name.
    std::vector<std::optional<ir::ValueId>> real_of;
};

/// Runs the passes of preparation(), and keeps the network in float. Throws ModelError.
QuantizedNetwork prepare_beside_float(const ir::Graph& graph, Calibration calibration,
                                      std::optional<Rounding> rounding = {});

/// Throws std::logic_error unless inputs and outputs have the same order of the file's axes in both graphs,
/// as whoever gives the inputs and reads the outputs of the prepared network expects.
void check_borders(const ir::Graph& graph, const ir::Graph& prepared);

/// Runs the passes of simplification(), of preparation() or of preparation_in_words(). Throws ModelError.
ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer = {});
ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const PassObserver& observer = {},
                  std::optional<Rounding> rounding = {});
ir::Graph prepare_in_words(const ir::Graph& graph, ir::WordsOptions options,
                           const PassObserver& observer = {});

}  // namespace systole::passes

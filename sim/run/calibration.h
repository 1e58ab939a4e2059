#pragma once

#include <vector>

#include "compiler/compile.h"
#include "compiler/ir/graph.h"
#include "sim/run/images.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// The images by which a run's network is quantized: its calibration images, else the first of its input.
/// Where pixels are the input, a stored byte is a pixel. A network without weights needs no images, as no
/// cycle depends on a value, nor does one that is on integers already; a machine that computes in floats
/// needs no calibration at all. Throws ConfigError, InputError.
compiler::Calibration calibration_of(const ir::Graph& graph, const RunSpec& spec,
                                     const std::vector<NamedImages>& inputs);

}  // namespace systole::run

#pragma once

#include <vector>

#include "compiler/compile.h"
#include "sim/run/images.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// How the compiler maps a run's network: as the spec says, by the costs of its host, and where it compares
/// mappings, by simulation on the run's machine.
compiler::Options compiler_options(const RunSpec& spec, const std::vector<NamedImages>& inputs);

}  // namespace systole::run

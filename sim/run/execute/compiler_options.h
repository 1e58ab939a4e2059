#pragma once

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "sim/run/images.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// How the compiler maps a run's network: as the spec says, by the costs of its host, and where it compares
/// mappings, by simulation on the run's machine.
compiler::Options compiler_options(const RunSpec& spec, const ir::Graph& graph,
                                   const std::vector<NamedImages>& inputs);

/// All that the program of a run depends on besides the fields of the spec without its machine.
std::string mapping_key(const RunSpec& spec);

}  // namespace systole::run

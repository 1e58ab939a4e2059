#pragma once

#include "compiler/compile.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// Simulates programs on the run's machine and with its host, if it has one, without values. Of a program of
/// some batches, those behind them follow at the interval of the last ones. A SystemC context is made and
/// left for each program.
compiler::Simulate simulator_of(const RunSpec& spec);

}  // namespace systole::run

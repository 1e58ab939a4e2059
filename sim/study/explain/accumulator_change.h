#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/study/explain/what_if.h"

/// More accumulators can make a run slower, and fewer can make it faster. Explanations say so.
namespace systole::explain {

/// The machine file's accumulators, if the run has set others; absent if it has not.
std::optional<WhatIf> without_accumulator_change(const Situation& situation);

/// Why one number of accumulators is slower than another; empty if what-if or effect is another one. `rows`
/// are those of the machine, `speedup` is that of the run with the change.
std::string why_slower(const WhatIf& what_if, std::uint32_t rows, std::optional<double> speedup);

/// "The run's own change makes it slower: ...", if the run is faster `without` its change of the
/// accumulators; else empty.
std::string warning(const WhatIf& without, std::uint32_t rows, std::optional<double> speedup);

}  // namespace systole::explain

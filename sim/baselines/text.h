#pragma once

#include <string>

#include "sim/baselines/baseline.h"

namespace systole::baselines {

/// The figures and their sources, for a terminal; lines of sources are as long as they are.
std::string to_text(const Baseline& baseline);

}  // namespace systole::baselines

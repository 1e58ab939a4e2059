#pragma once

#include <string>

#include "sim/run/baselines/baseline.h"
#include "sim/view/terminal/look.h"

namespace systole::baselines {

/// The figures and their sources. In the fixed layout lines of sources are as long as they are.
std::string to_text(const Baseline& baseline, const terminal::Look& look = {});

}  // namespace systole::baselines

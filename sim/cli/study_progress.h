#pragma once

#include <string>

#include "sim/study/sweep/run_points.h"

namespace systole::cli {

/// "12 of 80 points, 3.2 a second, 21 s left". `is_ending`: no further point begins.
std::string progress_text(const sweep::Progress& progress, bool is_ending);

}  // namespace systole::cli

#pragma once

#include <cstddef>
#include <string>

#include "sim/study/sweep/answer.h"
#include "sim/study/sweep/database.h"

namespace systole::sweep {

/// What study.html takes of a study. The other points are left out, evenly, and the page says so.
struct PageLimits {
    std::size_t points = 2000;
    std::size_t reports = 1000;  ///< of points whose own report the page shows in one click
};

/// study.html: one file with charts and a table of the points, their command lines and their reports. It
/// opens from disk and loads nothing else.
std::string to_html(const Answer& answer, Database& database, const PageLimits& limits = {});

}  // namespace systole::sweep

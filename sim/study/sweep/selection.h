#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/run/run_config.h"
#include "sim/study/sweep/study.h"

namespace systole::sweep {

/// A part of a study's points.
struct Selection {
    std::vector<run::Setting> values;  ///< of axes: one value, or a list of several
    std::string_view points;           ///< numbers and ranges, "3,7,10-20"; empty: all
};

/// The numbers of the points that the selection names. Throws ConfigError where it names a value that an axis
/// does not have, a point that the study does not have, or none.
std::vector<std::uint64_t> select(const Study& study, const Selection& selection);

}  // namespace systole::sweep

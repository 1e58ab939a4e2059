#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/run/record/record.h"

namespace systole::occupancy {

using run::RowValue;

/// Values of one turn in adjacent rows that existed at the same time. They form a shape of rows over time, in
/// adjacent steps from the lowest row to the highest.
using Shape = std::vector<RowValue>;

/// Passes on the shapes of the values one after the other, because a run may have more than fit in memory.
/// Shapes are sorted like values, by turn, then row. Neighbouring steps whose lives begin and end within
/// `tolerance` cycles are merged into one, whose life covers theirs.
void for_each_shape(std::span<const RowValue> values, Cycle tolerance,
                    const std::function<void(Shape&&)>& take);

}  // namespace systole::occupancy

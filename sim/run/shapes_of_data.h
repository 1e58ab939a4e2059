#pragma once

#include <vector>

#include "sim/run/record/spec.h"

namespace systole::run {

/// The shapes of inputs by the arrays that are given for them, for files that leave sizes open: the first
/// axis has the inferences, of which a network has one. Files that are no arrays have none.
std::vector<InputShape> shapes_of_data(const std::vector<InputFile>& files);

}  // namespace systole::run

#pragma once

#include <string>

namespace systole::operators {

/// docs/operators.md: every operator of the registry, its attributes and its names in each file format.
std::string operators_page();

}  // namespace systole::operators

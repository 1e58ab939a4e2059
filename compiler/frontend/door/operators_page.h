#pragma once

#include <string>

namespace systole::frontend {

/// The text of docs/operators.md: every operator, its attributes and its names in each file format.
std::string operators_page();

}  // namespace systole::frontend

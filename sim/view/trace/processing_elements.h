#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"

namespace systole::trace {

/// A processing element of the array.
struct Cell {
    std::size_t row = 0;
    std::size_t column = 0;

    auto operator<=>(const Cell&) const = default;
};

/// More of them nobody looks at.
inline constexpr std::size_t most_cells = 1024;

/// The elements that texts like "0,3" and "0-1,2-3" name, rows first, numbered from 0; each once, row by row.
/// Throws ConfigError where a text is something else, where the array has no such element, and where the
/// machine's engine has no registers.
std::vector<Cell> read_cells(const std::vector<std::string>& texts, const machine::MachineConfig& machine);

}  // namespace systole::trace

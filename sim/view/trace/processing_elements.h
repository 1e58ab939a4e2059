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

/// The limit on the number of elements in a trace.
inline constexpr std::size_t most_cells = 1024;

/// The elements that texts like "0,3" and "0-1,2-3" name: the row, then the column, both from 0. Each element
/// appears once, in the order of rows. Throws ConfigError if a text has another form, if the array has no
/// such element, or if the machine's engine has no registers.
std::vector<Cell> read_cells(const std::vector<std::string>& texts, const machine::MachineConfig& machine);

}  // namespace systole::trace

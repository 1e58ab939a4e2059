#pragma once

#include <cstdint>

#include "sim/study/explain/facts.h"

namespace systole::explain {

/// The cause to which a cycle of the matrix unit is attributed.
enum class Cause : std::uint8_t {
    WeightStall,  ///< waits for the tile from weight memory
    WeightShift,  ///< waits for the tile to shift in
    Activations,  ///< waits for rows that the activation unit still writes
    Input,        ///< waits for rows that the host still delivers
    Setup,        ///< waits for rows of windows that the data setup still collects
    Ports,        ///< waits for a memory port
    Idle,         ///< no matrix instruction
    UnusedCells,  ///< active, in cells without a weight of the layer
    UsefulCells,  ///< active, in cells that multiply for the layer
};

/// The cause with the most cycles, the first of equals. Active cycles are divided between used and unused
/// cells in proportion to the cells. Overlapping reasons each count in full. Facts without cycles give
/// `Idle`.
Cause cause_of(const Facts& facts);

/// The cycles of a cause.
std::uint64_t cycles_of(Cause cause, const Facts& facts);

}  // namespace systole::explain

#pragma once

#include <cstdint>

#include "sim/study/explain/facts.h"

namespace systole::explain {

/// The cause to which a cycle of the matrix unit is attributed.
enum class Cause : std::uint8_t {
    WeightStall,  ///< weight memory has not delivered the tile
    WeightShift,  ///< the tile is shifting in
    Activations,  ///< rows that the activation unit still writes
    Input,        ///< rows that the host still delivers
    Setup,        ///< rows of windows that the data setup still collects
    Ports,        ///< a taken memory port
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

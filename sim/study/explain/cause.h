#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/study/explain/facts.h"

namespace systole::explain {

/// The cause to which a cycle of the matrix unit is attributed.
enum class Cause : std::uint8_t {
    WeightStall,   ///< waits for the tile from weight memory
    WeightShift,   ///< waits for the tile to shift in
    Activations,   ///< waits for rows that the activation unit still writes
    Input,         ///< waits for rows that the host still delivers, or for a place for them
    Accumulators,  ///< waits for accumulators that the activation unit still reads
    OutputBuffer,  ///< waits for the activation unit, which waits for the host to fetch results
    VectorWork,    ///< waits for the activation unit, which does vector work
    Setup,         ///< waits for rows of windows that the data setup still collects
    Ports,         ///< waits for a memory port
    Issue,         ///< waits for an instruction that has not been issued
    Sync,          ///< waits for a semaphore, although rows and accumulators are ready
    Host,          ///< waits for the host, which computes a segment
    BeginAndEnd,   ///< before the first matrix instruction, or after the last
    UnusedCells,   ///< active, in cells without a weight of the layer
    UsefulCells,   ///< active, in cells that multiply for the layer
};

/// The causes with at least a twentieth of the cycles, those with the most cycles first; equals in the order
/// of their declaration. The first is the main cause. Active cycles are a cause only as the main one.
/// Facts without cycles have no cause.
std::vector<Cause> causes_of(const Facts& facts);

/// The cycles of a cause. The cycles of all causes sum to all cycles: active cycles are divided between used
/// and unused cells in proportion to the cells.
std::uint64_t cycles_of(Cause cause, const Facts& facts);

/// The run or layer whose cycles a sentence explains.
struct Subject {
    std::string_view kind;  ///< of the layer: "convolution"; empty where it is none
};

/// A cause of the cycles, as text: "Weight-bound: 888 of 1,344 cycles per tile wait for ...".
std::string sentence(const Facts& facts, Cause cause, const Subject& subject,
                     const machine::MatrixUnitConfig& array);

/// "4x the weight bandwidth would run it at 3.1x the speed (the run at 2.2x)." A factor below 1 is called
/// slower. An absent speedup means that no cycle is left. `run` is absent if the subject is the run.
std::string consequence(std::string_view change, std::optional<double> speedup, std::optional<double> run);

}  // namespace systole::explain

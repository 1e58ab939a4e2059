#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hw/machine/machine_config.h"
#include "sim/study/explain/cause.h"

namespace systole::explain {

/// The run or layer whose cycles a sentence explains.
struct Subject {
    std::string_view kind;  ///< of the layer: "convolution"; empty where it is none
};

/// The main cause of the cycles, as text: "Weight-bound: 888 of 1,344 cycles a tile wait for ...".
std::string sentence(const Facts& facts, Cause cause, const Subject& subject,
                     const machine::MatrixUnitConfig& array);

/// "4x the weight bandwidth would run it at 3.1x the speed (the run at 2.2x)." An absent speedup means that
/// no cycle is left. `run` is absent if the subject is the run.
std::string consequence(std::string_view change, std::optional<double> speedup, std::optional<double> run);

}  // namespace systole::explain

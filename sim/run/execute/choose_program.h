#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/target.h"
#include "hw/base/cycle.h"
#include "hw/isa/program.h"
#include "sim/run/compile.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// A mapping of the whole network that could be taken.
struct MappingAlternative {
    std::string_view name;
    Cycle cycles = 0;       ///< of all inferences
    bool simulated = true;  ///< otherwise the array passes alone take `cycles`
};

struct CompiledNetwork {
    ScheduledNetwork scheduled;
    isa::Program program;
    /// With Mapping::compare: that of the run first, then the simpler ones that the machine has room for.
    std::vector<MappingAlternative> alternatives = {};
    std::size_t chosen = 0;
};

/// The program of a network for a run's machine, mapped as the run says (schedule_of).
///
/// With Mapping::compare, that mapping and the simpler ones are simulated without values, and the one that
/// takes the fewest cycles is taken. schedule_of chooses by predictions of single layers and slices, which
/// leave out much of what a whole program waits for: instructions on a slow link, full queues, the transfers
/// of small networks. Of many batches, a few are simulated; the others follow at the same interval. Of a
/// batch that would take long, some images are.
CompiledNetwork compile(mapping::Network network, const RunSpec& spec, const schedule::Options& options);

/// The alternatives as text, a line for each; empty if there are none.
std::string to_text(const CompiledNetwork& compiled);

}  // namespace systole::run

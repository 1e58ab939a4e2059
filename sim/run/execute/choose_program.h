#pragma once

#include <cstddef>
#include <cstdint>
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
    Cycle cycles = 0;             ///< of all inferences
    std::uint64_t simulated = 0;  ///< inferences, of which `cycles` follow; 0: the array passes take them
};

struct CompiledNetwork {
    ScheduledNetwork scheduled;
    isa::Program program;
    /// With Mapping::compare: that of the run first, then the simpler ones that the machine has room for.
    std::vector<MappingAlternative> alternatives = {};
    std::size_t chosen = 0;
};

/// How much of a run is simulated to compare mappings, in tiles and operations, to which the time of a
/// simulation is about proportional. docs/performance.md has what the comparison costs and how it chooses.
struct ComparisonSteps {
    /// The first part, which rules out mappings that are clearly slower, has at least so many. It has an
    /// eighth of the run, or of `most` for longer runs, where that is more.
    std::uint64_t part = 10'000;
    /// No mapping is simulated for more.
    std::uint64_t most = 50'000;
};

/// The program of a network for a run's machine, mapped as the run says (schedule_of).
///
/// With Mapping::compare, that mapping and the simpler ones are simulated without values, and the one that
/// takes the fewest cycles is taken. schedule_of chooses by predictions of single layers and slices, which
/// leave out much of what a whole program waits for: instructions on a slow link, full queues, the transfers
/// of small networks.
///
/// A part of a long run first shows which mappings are clearly slower. A very long run is never simulated
/// whole: of many batches, a few are, and the others follow at the same interval; of a batch that would take
/// long, some images are.
CompiledNetwork compile(mapping::Network network, const RunSpec& spec, const schedule::Options& options,
                        const ComparisonSteps& steps = {});

/// The alternatives as text, a line for each; empty if there are none.
std::string to_text(const CompiledNetwork& compiled);

}  // namespace systole::run

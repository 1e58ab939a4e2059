#pragma once

#include <cstdint>
#include <functional>

#include "base/cycle.h"
#include "hw/isa/program.h"
#include "hw/machine/mapping.h"

namespace systole::mapping {

/// The inferences of a program. Both numbers are at least 1.
struct Batches {
    std::uint32_t batch = 1;       ///< images that go through the network together
    std::uint64_t inferences = 1;  ///< images in all; the last batch may have fewer

    bool operator==(const Batches&) const = default;
};

/// What the host takes for its part of a network.
struct HostCosts {
    double seconds_per_operation = 0;  ///< it takes the longer of the two
    double seconds_per_byte = 0;
    double seconds_per_layer = 0;  ///< in addition, each time that it computes a segment
};

/// The cycles of `inferences` inferences on the machine, of which the program has the first, with the time of
/// the host. Values are not computed. Throws ProgramError if the machine cannot run the program.
using Simulate = std::function<Cycle(const isa::Program& program, std::uint64_t inferences)>;

/// How much of a run is simulated to compare mappings, in tiles and operations, to which the time of a
/// simulation is about proportional. docs/performance.md has what the comparison costs and how it chooses.
struct ComparisonSteps {
    /// The first part, which rules out mappings that are clearly slower, has at least so many. It has an
    /// eighth of the run, or of `most` for longer runs, where that is more.
    std::uint64_t part = 10'000;
    /// No mapping is simulated for more.
    std::uint64_t most = 50'000;
};

/// How a network becomes a program.
struct Options {
    machine::Mapping mapping = {};
    Batches batches = {};
    HostCosts host = {};
    /// For Mapping::compare; without it, the mapping is not compared.
    Simulate simulate = {};
    ComparisonSteps comparison = {};
    bool explain = false;        ///< Compiled::choices are wanted
    bool schedule_text = false;  ///< Compiled::schedule_text is wanted
};

}  // namespace systole::mapping

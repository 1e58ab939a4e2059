#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/machine/unit_description.h"
#include "sim/run/record/record.h"

namespace systole::explain {

/// The data for a sentence: cycles of the main unit, and weight tiles, in a run or under one of its tags.
struct Facts {
    std::uint64_t active_cycles = 0;  ///< of products
    /// The other cycles, by name of their cause.
    std::map<std::string, std::uint64_t, std::less<>> by_cause = {};
    // Cells of active cycles.
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    run::TileUse fetched = {};
    /// How long the run took, or its part under the tag, if there are several arrays: `cycles` counts those
    /// of all of them.
    std::optional<std::uint64_t> of_one_array = {};

    std::uint64_t cycles() const;
    std::uint64_t elapsed() const { return of_one_array.value_or(cycles()); }

    bool operator==(const Facts&) const = default;
};

struct TagFacts {
    std::string name;  ///< of the layer, as reports have it
    std::string kind;  ///< "convolution"; empty where the program does not say
    Facts facts;

    bool operator==(const TagFacts&) const = default;
};

/// The facts about one simulation.
struct Simulation {
    std::uint64_t inferences = 1;  ///< 1 for a program without inferences
    std::uint64_t clock_hz = 1;
    Facts run;
    std::vector<TagFacts> tags;  ///< by tag
    std::vector<machine::UnitDescription> units = {};

    bool operator==(const Simulation&) const = default;
};

Simulation facts_of(const run::RunRecord& record);

}  // namespace systole::explain

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cycle.h"
#include "compiler/mapping/choices.h"
#include "hw/isa/program.h"
#include "hw/machine/chosen_mapping.h"

namespace systole::mapping {

/// A mapping of the whole network that could be taken.
struct WholeMapping {
    std::string name;             ///< "best", or one of machine::MappingName
    Cycle cycles = 0;             ///< of all inferences
    std::uint64_t simulated = 0;  ///< inferences, of which `cycles` follow; 0: the array passes take them
};

/// Operators of one kind that run at one place for one reason.
struct PlacedOperators {
    std::string op;
    std::size_t count = 0;
    bool on_chip = false;
    std::string reason = {};  ///< why they run on the host; empty on the chip

    std::string where() const { return on_chip ? "mapped to the tiles" : "runs on the host: " + reason; }
};

/// A network as a program, with its weights, and what was chosen for it. Layers, what is joined to them and
/// the work of the host are in the program.
struct Compiled {
    isa::Program program;
    machine::BatchFacts batch;
    std::optional<machine::CutImages> cut_images;  ///< absent where an image fits the unified buffer
    /// With Mapping::compare: that of the run first, then the simpler ones that the machine has room for.
    std::vector<WholeMapping> mappings;
    std::size_t chosen = 0;
    /// On machines whose host computes what the chip does not, in the order of the layers.
    std::vector<PlacedOperators> placed = {};
    std::vector<Choice> choices;  ///< with Options::explain, in the order in which they were made
    std::string schedule_text;    ///< with Options::schedule_text: the order of the work
};

}  // namespace systole::mapping

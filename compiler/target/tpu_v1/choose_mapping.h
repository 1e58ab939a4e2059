#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/mapping/options.h"
#include "compiler/schedule/analysed_network.h"
#include "compiler/schedule/choose_blocks.h"
#include "compiler/schedule/choose_joins.h"
#include "compiler/schedule/choose_slices.h"
#include "compiler/schedule/choose_stages.h"
#include "compiler/schedule/target.h"
#include "hw/machine/chosen_mapping.h"

namespace systole::tpu_v1 {

/// From what the choices of a network were made; empty where the mapping leaves no choice.
struct Comparisons {
    std::vector<std::string> layers;  ///< their names, by the numbers that the alternatives name
    std::vector<schedule::SiblingAlternatives> joins;
    std::vector<schedule::LayerAlternatives> blocks;
    bool channels_stay_whole = false;  ///< to cut them in parts would hardly save cycles
    schedule::SliceAlternatives slices;
    schedule::StageAlternatives stages;
};

/// A network as it is scheduled, with its target, whose choices are made.
struct MappedNetwork {
    schedule::AnalysedNetwork analysed;
    schedule::Target target;
    std::optional<machine::CutImages> cut_images;  ///< absent if an image fits the unified buffer
    Comparisons compared;
};

/// Maps a network: what the target's mapping leaves open is what is predicted to take the fewest cycles.
/// Lines that do not fit the accumulators are folded, and images that do not fit the unified buffer are cut,
/// so the network may have other layers than the given one. Throws ModelError.
MappedNetwork choose_mapping(mapping::Network network, schedule::Target target,
                             const mapping::Batches& batches);

}  // namespace systole::tpu_v1

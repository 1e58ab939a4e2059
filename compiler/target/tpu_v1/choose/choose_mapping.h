#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/choose/choose_blocks.h"
#include "compiler/target/tpu_v1/choose/choose_joins.h"
#include "compiler/target/tpu_v1/choose/choose_slices.h"
#include "compiler/target/tpu_v1/choose/choose_stages.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/machine/chosen_mapping.h"

namespace systole::tpu_v1 {

/// From what the choices of a network were made; empty where the mapping leaves no choice.
struct Comparisons {
    std::vector<std::string> layers;  ///< their names, by the numbers that the alternatives name
    std::vector<SiblingAlternatives> joins;
    std::vector<LayerAlternatives> blocks;
    bool channels_stay_whole = false;  ///< to cut them in parts would hardly save cycles
    SliceAlternatives slices;
    StageAlternatives stages;
};

/// A network as it is scheduled, with its target, whose choices are made.
struct MappedNetwork {
    AnalysedNetwork analysed;
    Target target;
    std::optional<machine::CutImages> cut_images;  ///< absent if an image fits the unified buffer
    Comparisons compared;
};

/// Maps a network: what the target's mapping leaves open is what is predicted to take the fewest cycles.
/// Lines that do not fit the accumulators are folded, and images that do not fit the unified buffer are cut,
/// so the network may have other layers than the given one. Throws ModelError.
MappedNetwork choose_mapping(Network network, Target target, const mapping::Batches& batches);

}  // namespace systole::tpu_v1

#pragma once

#include "compiler/mapping/compiled.h"
#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/scheduled_network.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/isa/program.h"

namespace systole::tpu_v1 {

/// What comparing whole mappings of a network found.
struct ComparedMappings {
    std::vector<mapping::WholeMapping> alternatives;  ///< that of the run first
    std::size_t chosen = 0;
    std::optional<ScheduledNetwork> better;  ///< unless the first is chosen
};

/// Compares `own`, the network mapped as its target says, with the simpler mappings: they are simulated
/// without values, and the one that takes the fewest cycles is taken. choose_mapping chooses by predictions
/// of single layers and slices, which leave out much of what a whole program waits for: instructions on a
/// slow link, full queues, the transfers of small networks.
///
/// A part of a long run first shows which mappings are clearly slower. A very long run is never simulated
/// whole: of many batches, a few are, and the others follow at the same interval; of a batch that would take
/// long, some images are. `target` has no choices; `program` is that of `own`.
ComparedMappings compare_mappings(const Network& network, const Target& target,
                                  const mapping::Options& options, const ScheduledNetwork& own,
                                  const isa::Program& program);

}  // namespace systole::tpu_v1

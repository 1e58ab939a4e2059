#pragma once

#include "compiler/mapping/network.h"
#include "compiler/mapping/options.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/tpu_v1/choose_mapping.h"

namespace systole::tpu_v1 {

/// A network that has been mapped and scheduled.
struct ScheduledNetwork {
    MappedNetwork mapped;
    schedule::Schedule schedule;
};

/// Maps a network as the target says, which has no choices yet, and schedules it. Throws ModelError.
ScheduledNetwork schedule_network(const mapping::Network& network, const schedule::Target& target,
                                  const mapping::Batches& batches);

}  // namespace systole::tpu_v1

#pragma once

#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/choose/choose_mapping.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {

/// A network that has been mapped and scheduled.
struct ScheduledNetwork {
    MappedNetwork mapped;
    Schedule schedule;
};

/// Maps a network as the target says, which has no choices yet, and schedules it. Throws ModelError.
ScheduledNetwork schedule_network(const Network& network, const Target& target,
                                  const mapping::Batches& batches);

}  // namespace systole::tpu_v1

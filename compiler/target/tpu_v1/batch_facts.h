#pragma once

#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/machine/chosen_mapping.h"

namespace systole::tpu_v1 {

/// What becomes of the batch that a user asks for. For a batch that was cut, the network is scheduled again
/// with batches that fit, of which the one that fetches weights for most images is named.
machine::BatchFacts batch_facts(const AnalysedNetwork& analysed, const Schedule& schedule);

}  // namespace systole::tpu_v1

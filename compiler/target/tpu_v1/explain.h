#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/choices.h"
#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/choose/choose_mapping.h"
#include "compiler/target/tpu_v1/choose/compare_mappings.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {

/// What was chosen for a network and from what: ways to join layers, blocks of pixels for each layer, slices
/// and stages, with tiles and predicted cycles. A mapping that leaves no choice is said to.
std::vector<mapping::Choice> choices(const MappedNetwork& mapped, const mapping::Batches& batches);

/// The mapping of the whole network, of those that were compared.
mapping::Choice choice_of(const ComparedMappings& compared, std::uint64_t inferences);

/// The rows of the unified buffer that a schedule takes, as a remark.
mapping::Choice memory_taken(const Schedule& schedule);

}  // namespace systole::tpu_v1

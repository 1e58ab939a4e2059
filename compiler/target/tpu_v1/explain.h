#pragma once

#include <string>

#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/choose/choose_mapping.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {

/// What was chosen and from what, as text: a line for each way to join layers, for each of a layer's blocks
/// of pixels, with its tiles and predicted cycles, and so on. A mapping that leaves no choice is said to.
std::string explain(const MappedNetwork& mapped, const mapping::Batches& batches);

/// The rows of the unified buffer that a schedule takes, as a line of text.
std::string memory_text(const Schedule& schedule);

}  // namespace systole::tpu_v1
